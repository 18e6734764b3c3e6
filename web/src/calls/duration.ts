/** Writes down how long something took, as people say it. */

/** As "0.4 s", "12 s", "3 min 5 s"; `whole` leaves out what changes too fast to read. */
export function duration(ms: number, whole = false): string {
  const seconds = ms / 1000;
  if (seconds < 60) return `${whole || seconds >= 10 ? Math.floor(seconds) : rounded(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

function rounded(seconds: number): string {
  return seconds < 0.1 ? seconds.toFixed(2) : seconds.toFixed(1);
}
