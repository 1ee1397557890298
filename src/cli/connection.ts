/** Which service a command talks to over HTTP, and with which key. */
import { InvalidArgumentError } from 'commander';
import { OperatorError } from '../runtime/errors.ts';
import { type Profile, readProfiles } from './profiles.ts';

const apiBase = '/api-v1';

export interface ConnectionOptions {
  url?: string;
  profile?: string;
}

export const urlOption = [
  '--url <url>',
  'address of the service, with the key in HOLDFAST_API_KEY (default: HOLDFAST_URL)',
  parseServiceUrl,
] as const;

export const profileOption = [
  '--profile <name>',
  'service and key that "holdfast login" saved under this name',
] as const;

/**
 * In this order: what the command line names, the environment, the default profile. Null: none of them. An explicit request is
 * never answered with another service.
 */
export async function chooseConnection({ url, profile }: ConnectionOptions): Promise<Profile | null> {
  const { HOLDFAST_URL: envUrl = '', HOLDFAST_API_KEY: key = '' } = process.env;
  if (url !== undefined && profile !== undefined)
    throw new OperatorError('Give --url or --profile, not both.');
  if (url !== undefined) {
    if (key === '')
      throw new OperatorError('Put the API key into HOLDFAST_API_KEY, or use "holdfast login".');
    return { url, key };
  }
  if (profile === undefined && envUrl !== '' && key !== '') return { url: serviceUrl(envUrl), key };
  const { default: usual, profiles } = await readProfiles();
  const name = profile ?? usual;
  if (name === null) return null;
  const found = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (found === undefined)
    throw new OperatorError(`There is no profile ${name.slice(0, 100)}. Create it with "holdfast login".`);
  return found;
}

export interface RequestOptions {
  method?: string;
  body?: string | ReadableStream<Uint8Array>;
  headers?: Record<string, string>;
  signal: AbortSignal;
}

/** One request to the API. Redirects are not followed, so that the key reaches nobody else. */
export function request(
  { url, key }: Profile,
  path: string,
  { method, body, signal, headers }: RequestOptions,
): Promise<Response> {
  return fetch(`${url}${apiBase}${path}`, {
    headers: { 'x-api-key': key, ...headers },
    redirect: 'manual',
    signal,
    ...(method !== undefined && { method }),
    ...(body !== undefined && { body, duplex: 'half' as const }),
  });
}

/** The message of an error of the API, or else what the status means. */
export async function explainAnswer(answer: Response): Promise<string> {
  if (answer.status >= 300 && answer.status < 400)
    return `The service answered ${answer.status}, a redirect, which is not followed: give its own address.`;
  const body = await answer.json().catch(() => null);
  const { message } = (body ?? {}) as { message?: unknown };
  const said = typeof message === 'string' ? message.slice(0, 500).replace(/\p{Cc}/gu, '\uFFFD') : '';
  return said || `The service answered ${answer.status}.`;
}

export function parseServiceUrl(text: string): string {
  try {
    return serviceUrl(text);
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
}

/** Without the slash at its end. Over plain http, anybody on the way could read the key. */
function serviceUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isPlain = url !== null && url.search + url.hash + url.username + url.password === '';
  if (!isPlain || !/^https?:$/.test(url.protocol))
    throw new OperatorError(`Give the address of a service, such as https://evidence.example.org.`);
  if (url.protocol === 'http:' && !/^(localhost|127\.[\d.]+|\[::1\])$/.test(url.hostname))
    throw new OperatorError('Give an https address. Plain http is only for a service on this machine.');
  return url.href.replace(/\/+$/, '');
}
