/** What cards ask their user, above every page. */

export function Confirmations() {
  return null;
}
