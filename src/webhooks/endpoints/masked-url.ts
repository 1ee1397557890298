/** What of an endpoint's URL is shown to who may not change it: path and query often hold a secret of the receiver. */

export function maskUrl(url: string): string {
  const { origin, pathname, search } = new URL(url);
  return pathname === '/' && search === '' ? url : `${origin}/…`;
}
