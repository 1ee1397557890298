/** A real OpenID Connect provider over HTTPS, with people, groups and faults that tests change as they go. */
import { createPrivateKey, generateKeyPairSync, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import Provider, { type Configuration } from 'oidc-provider';
import { Agent, request } from 'undici';
import { certificate } from './receiver.ts';

export interface TestPerson {
  email: string;
  /** null: nothing is said of it. */
  emailVerified?: boolean | null;
  name?: string;
  groups?: string[];
}

type Claims = Record<string, unknown>;

export interface IdentityProvider {
  issuer: string;
  settings: Record<string, string>;
  people: Map<string, TestPerson>;
  /** Who is at the keyboard there: signs in without being asked. */
  present: string;
  /** Requests by path. */
  asked: string[];
  /** Changes the claims of ID tokens, which are signed again with the provider's key. */
  tamper: ((claims: Claims) => Claims) | null;
  /** Changes what the provider says of itself. */
  discovered: ((metadata: Claims) => Claims) | null;
  /** In how many seconds access tokens end, as it says; null: as they do. */
  expiresIn: number | null;
  /** Answers everything with 503. */
  away: boolean;
  /** To be called once the address of the service is known. */
  serve(serviceUrl: string): void;
  /** Ends all that this person was granted, as when an account is closed. */
  revoke(id: string): Promise<void>;
  /** From now on a new key signs, and the old one is no longer published. */
  rotate(): void;
  /** Goes from the address of the provider to the one that it sends the browser back to. */
  walk(url: string): Promise<string>;
  close(): Promise<void>;
}

const clientId = 'holdfast';
const clientSecret = 'a secret of thirty-two characters';

function newKey(kid: string) {
  const jwk = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' });
  return { ...jwk, kid, alg: 'RS256', use: 'sig' };
}

export async function startIdentityProvider({ refresh = true } = {}): Promise<IdentityProvider> {
  const { key, cert, caFile } = certificate();
  let handler: ReturnType<Provider['callback']> | null = null;
  let keys = 1;
  let current = newKey('key-1');
  let serviceUrl = '';
  /** Account and id of each grant. */
  const granted: [string, string][] = [];
  let endGrant = async (_grantId: string): Promise<void> => {};
  const server: Server = createServer({ key, cert }, (req, res) => {
    provider.asked.push(new URL(req.url ?? '/', issuer).pathname);
    if (provider.away || !handler) {
      res.writeHead(503).end();
      return;
    }
    void handler(req, res);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;

  function build(): void {
    const configuration: Configuration = {
      clients: [
        {
          client_id: clientId,
          client_secret: clientSecret,
          redirect_uris: [`${serviceUrl}/auth/provider/callback`],
          grant_types: ['authorization_code', 'refresh_token'],
          response_types: ['code'],
        },
      ],
      jwks: { keys: [current] },
      scopes: ['openid', 'email', 'profile', 'groups', 'offline_access'],
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
      features: { devInteractions: { enabled: false }, introspection: { enabled: true } },
      cookies: { keys: ['one'] },
      pkce: { required: () => true },
      rotateRefreshToken: true,
      issueRefreshToken: async () => refresh,
      findAccount: async (_ctx, id) => {
        const person = provider.people.get(id);
        if (!person) return undefined;
        const { email, emailVerified = true, name = id, groups = [] } = person;
        return {
          accountId: id,
          claims: async () => ({
            ...{ sub: id, email, name, groups },
            ...(emailVerified !== null && { email_verified: emailVerified }),
          }),
        };
      },
      loadExistingGrant: async (ctx) => {
        const grant = new ctx.oidc.provider.Grant({
          clientId,
          accountId: ctx.oidc.session?.accountId ?? '',
        });
        grant.addOIDCScope('openid email profile groups offline_access');
        granted.push([grant.accountId ?? '', await grant.save()]);
        return grant;
      },
      interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    };
    const real = new Provider(issuer, configuration);
    endGrant = (grantId) => real.AccessToken.revokeByGrantId(grantId);
    real.use(async (ctx, next) => {
      if (ctx.path.startsWith('/interaction/')) {
        await real.interactionFinished(ctx.req, ctx.res, { login: { accountId: provider.present } });
        ctx.respond = false;
        return;
      }
      await next();
      const body = ctx.body as { id_token?: string } | undefined;
      if (ctx.path === '/.well-known/openid-configuration' && provider.discovered)
        ctx.body = provider.discovered(ctx.body as Claims);
      if (ctx.path !== '/token' || !body?.id_token) return;
      ctx.body = {
        ...body,
        ...(provider.tamper && { id_token: resigned(body.id_token, provider.tamper) }),
        ...(provider.expiresIn !== null && { expires_in: provider.expiresIn }),
      };
    });
    handler = real.callback();
  }

  function resigned(token: string, change: (claims: Claims) => Claims): string {
    const [head = '', body = ''] = token.split('.');
    const claims = change(JSON.parse(Buffer.from(body, 'base64url').toString()));
    const input = `${head}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`;
    const privateKey = createPrivateKey({ key: current, format: 'jwk' });
    return `${input}.${sign('sha256', Buffer.from(input), privateKey).toString('base64url')}`;
  }

  const agent = new Agent({ connect: { ca: readFileSync(caFile) } });
  const jar = new Map<string, string>();
  const provider: IdentityProvider = {
    issuer,
    settings: {
      HOLDFAST_OIDC_ISSUER: issuer,
      HOLDFAST_OIDC_CLIENT_ID: clientId,
      HOLDFAST_OIDC_CLIENT_SECRET: clientSecret,
      HOLDFAST_OIDC_CA_FILE: caFile,
    },
    people: new Map(),
    present: '',
    asked: [],
    tamper: null,
    discovered: null,
    expiresIn: null,
    away: false,
    serve(url) {
      serviceUrl = url;
      build();
    },
    rotate() {
      keys += 1;
      current = newKey(`key-${keys}`);
      build();
    },
    async revoke(id) {
      for (const [account, grantId] of granted) if (account === id) await endGrant(grantId);
    },
    async walk(url) {
      jar.clear();
      let next = url;
      for (let hops = 0; hops < 10 && next.startsWith(issuer); hops += 1) {
        const answer = await request(next, {
          dispatcher: agent,
          headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') },
        });
        await answer.body.text();
        for (const line of [answer.headers['set-cookie'] ?? []].flat()) {
          const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
          jar.set(name, value);
        }
        const { location } = answer.headers;
        if (typeof location !== 'string') throw new Error(`no way on from ${next}: ${answer.statusCode}`);
        next = new URL(location, next).href;
      }
      return next;
    },
    async close() {
      await agent.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return provider;
}
