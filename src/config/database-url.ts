/** DATABASE_URL, which may name several servers. */

/** A URL for each host of `postgres://USER:PASSWORD@HOST:PORT,HOST:PORT/DATABASE`; null if it has another form. */
export function serverUrls(url: string): string[] | null {
  const [, before, hosts, rest] = /^(postgres(?:ql)?:\/\/(?:[^@/]*@)?)([^/?#]*)(.*)$/s.exec(url) ?? [];
  const urls = hosts?.split(',').map((host) => `${before}${host}${rest}`);
  return urls?.every((one) => URL.canParse(one)) ? urls : null;
}
