/** A request as a line for the shell, so that a fault can be had again by hand. */

export interface SentRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string | undefined;
}

export function toCurl({ method, url, headers, body }: SentRequest): string {
  const given = Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`);
  const data = body === undefined ? [] : [`--data-raw ${quoted(body)}`];
  return ['curl -isS --path-as-is', `-X ${method}`, quoted(url), ...given, ...data].join(' ');
}

/** In single quotes nothing has a meaning but the quote itself; a NUL, which no argument can hold, is left out. */
function quoted(text: string): string {
  return `'${text.replaceAll('\0', '').replaceAll("'", `'\\''`)}'`;
}
