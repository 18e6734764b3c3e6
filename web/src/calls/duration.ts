/** Writes down how long something took, as people say it. */

/** As "12 ms", "0.4 s", "12 s", "3 min 5 s"; `whole` leaves out what changes too fast to read. */
export function duration(ms: number, whole = false): string {
  if (ms < 100 && !whole) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${whole || seconds >= 10 ? Math.floor(seconds) : seconds.toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
