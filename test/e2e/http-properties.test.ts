/** Random requests to every route, made from its own schema: never a 5xx, always the documented shapes. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { toCurl } from '../support/openapi/curl.ts';
import { namesMadeUp } from '../support/openapi/made-up-names.ts';
import { send } from '../support/openapi/openapi-answers.ts';
import {
  credentialsFor,
  fillPath,
  isSuccess,
  type Operation,
  type PathValues,
  readOperations,
  webhookSettings,
} from '../support/openapi/openapi-operations.ts';
import {
  createRequests,
  pathAndQuery,
  type Request,
  type Requests,
} from '../support/openapi/openapi-requests.ts';
import { assertDocumented, fitsSchema } from '../support/openapi/openapi-shapes.ts';
import { makeInvitation, makeMember, makeOwner, makeThings } from '../support/openapi/openapi-things.ts';
import { withClient } from '../support/service/database.ts';
import { longOnly } from '../support/service/long.ts';
import { fc } from '../support/service/properties.ts';
import { type Answer, type Service, startService } from '../support/service/service.ts';

/** Per route; other ones for each seed of the run, so that many short runs find what a long one does. */
const numRuns = Number(process.env.HOLDFAST_FUZZ_RUNS ?? (longOnly ? 4 : 50));
/** Of a walk over all routes, on a machine that has much else to do: a second for each route and ten requests. */
const timeout = 300_000 + numRuns * 30_000;

let service: Service;
let operations: Operation[];
/** Things that exist, by the path parameter that names them. */
let existing: PathValues;
/** Things for the routes that take them away. */
let disposable: PathValues;
/** For the routes that take away what people have; each is used once. */
const spare = new Map<string, PathValues[]>();
/** Of these, what the route that is walked just now may take away. */
let taken: PathValues = {};
let requests: Requests;

before(async () => {
  service = await startService({ env: webhookSettings });
  operations = await readOperations(service);
  existing = await makeThings(service);
  disposable = await makeThings(service);
  requests = createRequests({ existing, thingsOf });
  // Before any test, because few invitations are taken in a minute; two tests walk the routes.
  for (const { name } of [...operations, ...operations].filter(({ name }) => name.startsWith('DELETE'))) {
    if (/\/sessions/.test(name)) keep(name, await makeOwner(service));
    if (/\/members/.test(name)) keep(name, await makeMember(service, disposable));
    if (/\/invitations/.test(name)) keep(name, await makeInvitation(service, disposable));
  }
});
after(() => service.close());

test('no request crashes a route, and every answer has a documented shape', { timeout }, async (t) => {
  for (const operation of operations) {
    await t.test(operation.name, () => {
      takeSpare(operation);
      const calls = { requests: requests.any(operation), numRuns };
      return check(operation, calls, (answer, { body }) => {
        if (operation.body === null || body === undefined) return;
        const sent = JSON.parse(JSON.stringify(body));
        if (!fitsSchema(operation.body, sent))
          assert.ok(answer.status >= 400, 'took what the document forbids');
      });
    });
  }
});

test('never refuses as invalid what the document allows', { timeout }, async (t) => {
  const onBehalfKey = await service.onBehalfKey();
  for (const operation of operations) {
    await t.test(operation.name, () => {
      takeSpare(operation);
      // The scope for these must be named: the key of the service has every other one.
      const key = /\/(signoffs\/|api-keys)$/.test(operation.path) ? onBehalfKey : service.key;
      const calls = { requests: requests.allowed(operation), numRuns: numRuns / 2, key };
      return check(operation, calls, (answer, request) => {
        const { status, text } = answer;
        assert.ok(status < 300 || status === 304 || mayBe(operation, answer, request), text);
      });
    });
  }
});

test('no webhook was sent anywhere but to this machine', async () => {
  // All of them: two may be of the same address.
  const urls = await withClient({ connectionString: service.databaseUrl }, async (client) => {
    const { rows } = await client.query('select url from webhook_endpoints');
    return rows.map(({ url }) => new URL(url));
  });
  assert.ok(urls.length > numRuns * 0.4, 'hardly any endpoint was made');
  for (const { hostname } of urls) assert.match(hostname, /^127\.0\.0\.\d+$/);
});

/** What is refused for another reason than its form. */
function mayBe(operation: Operation, { status, text, json }: Answer, request: Request): boolean {
  const { path, method, name } = operation;
  const { errorCode, message } = json;
  if (/\/sessions/.test(path) && errorCode === 'unauthorized') return true;
  if (/\/invitations\/\w+$/.test(path) && errorCode === 'rate_limit_exceeded') return true;
  // The schema cannot say it: exactly one of three, the answer of a real device, a GTIN with the right check digit.
  if (/\/(holds|platform\/passkeys|published-pages\/)$/.test(path) && errorCode === 'invalid_request')
    return true;
  // Depends on what the endpoint has now.
  if (name === 'PATCH /api-v1/platform/webhooks/endpoints/{endpointId}' && errorCode === 'invalid_request')
    return Object.hasOwn(request.body as object, 'url') && !Object.hasOwn(request.body as object, 'headers');
  if (errorCode === 'viewer_not_allowed') return true;
  if (status === 403) return isSuccess(operation, status, text);
  // Reading conflicts with nothing but that something is not there yet.
  if (status === 409) return method !== 'GET' || isSuccess(operation, status, text) || signsInTurn.test(path);
  if (status !== 404) return false;
  const things = thingsOf(operation);
  // What is deleted once is gone, and a version that was made of a hash alone has no content.
  return (
    method === 'DELETE' ||
    /only its hash was given/.test(message) ||
    request.path !== fillPath(operation, things) ||
    namesMadeUp(message, request, things)
  );
}

/** Roles are signed in order, and a random one is not due. */
const signsInTurn = /\/signoffs\/request\/$/;

type Assertion = (answer: Answer, request: Request) => void;

async function check(
  operation: Operation,
  {
    requests,
    numRuns,
    key: standard = service.key,
  }: { requests: fc.Arbitrary<Request>; numRuns: number; key?: string },
  also: Assertion,
): Promise<void> {
  const { key = standard, headers: own } = credentialsFor(operation, thingsOf(operation));
  await fc.assert(
    fc.asyncProperty(requests, async (request) => {
      const { headers, body } = request;
      const sent = {
        method: operation.method,
        path: pathAndQuery(request),
        headers: {
          ...(key !== null && { 'x-api-key': key }),
          'content-type': 'application/json',
          ...own,
          ...headers,
        },
        body: body === undefined ? undefined : JSON.stringify(body),
      };
      const answer = await send(service.url, sent);
      try {
        assertDocumented(operation, answer);
        also(answer, request);
      } catch (error) {
        const curl = toCurl({ ...sent, url: service.url + sent.path });
        throw new Error(`${(error as Error).message}\n${curl}`, { cause: error });
      }
    }),
    { numRuns: Math.ceil(numRuns) },
  );
}

function keep(name: string, things: PathValues): void {
  spare.set(name, [...(spare.get(name) ?? []), things]);
}

/** Whose session was ended cannot ask again. */
function takeSpare({ name }: Operation): void {
  taken = spare.get(name)?.pop() ?? {};
}

function thingsOf({ method }: Operation): PathValues {
  return method === 'DELETE' ? { ...disposable, ...taken } : existing;
}
