/** Masks an endpoint's URL for callers who may not change it: path and query often contain a secret of the receiver. */

export function maskUrl(url: string): string {
  const { origin, pathname, search } = new URL(url);
  return pathname === '/' && search === '' ? url : `${origin}/…`;
}
