/** Whether a refusal is about a name that a random request made up, rather than about something that exists. */
import type { PathValues } from './openapi-operations.ts';
import type { Request } from './openapi-requests.ts';

/** What requests name it by when it exists, besides ids and addresses. */
const firstVersion = '1';

/** Whether the message names a value of the query or the body, or the member it is in, that is none of the existing things. */
export function namesMadeUp(message: string, { query, body }: Request, existing: PathValues): boolean {
  const known = new Set([...Object.values(existing), firstVersion].map((value) => value.toLowerCase()));
  const said = ` ${message.replace(/\.$/, '')} `.toLowerCase();
  const isSaid = (text: string) => said.includes(` ${text.toLowerCase()} `);
  return [...query, ...membersOf(body)].some(
    ([name, value]) =>
      !known.has(value.toLowerCase()) &&
      // What a token is for is never named.
      (name === 'token' || isSaid(value) || (name.includes('.') && isSaid(name))),
  );
}

/** All values inside, each with the path to it: `entries.maintenanceIds`. */
function membersOf(value: unknown, path = ''): [path: string, value: string][] {
  if (value === undefined) return [];
  if (typeof value !== 'object' || value === null) return [[path, String(value)]];
  if (Array.isArray(value)) return value.flatMap((item) => membersOf(item, path));
  return Object.entries(value).flatMap(([name, inside]) =>
    membersOf(inside, path === '' ? name : `${path}.${name}`),
  );
}
