/** The OpenID Connect provider: sends people there, and asks it who they are and whether it still vouches for them. */
import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  type CustomFetch,
  calculatePKCECodeChallenge,
  clockTolerance,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  ResponseBodyError,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
  refreshTokenGrant,
  type TokenEndpointResponse,
  type TokenEndpointResponseHelpers,
  tokenIntrospection,
  WWWAuthenticateChallengeError,
} from 'openid-client';
import type { ProviderConfig } from '../../config/sign-in-settings.ts';
import type { GuardedRequests } from '../../egress/guarded-request.ts';

/** What the provider says of a person. */
export interface Vouched {
  issuer: string;
  subject: string;
  name: string | null;
  /** In lower case; null unless the provider has verified it. */
  email: string | null;
  groups: string[];
  tokens: Tokens;
}

/** With which the provider is asked again. */
export interface Tokens {
  access: string;
  refresh: string | null;
  /** When the access token ends, in ms since 1970; absent or null: the provider did not say. */
  accessEndsAt?: number | null;
}

/** What the answer of the provider is compared with; kept until the person comes back. */
export interface Expected {
  state: string;
  nonce: string;
  verifier: string;
  /** The person must have signed in there anew. */
  anew: boolean;
}

/**
 * `gone`: the provider no longer vouches for the person. `over`: the token has ended, as it had to, and there is none to
 * refresh it with; that says nothing about the person. `away`: it gave no usable answer.
 */
export type Standing = Vouched | 'gone' | 'over' | 'away';

export interface ProviderClient {
  begin(redirectUri: string, anew: boolean): Promise<{ url: URL; expected: Expected }>;
  /** `url`: where the provider sent the person, with its answer. Throws if anything does not fit. */
  finish(url: URL, expected: Expected): Promise<Vouched>;
  askAgain(subject: string, tokens: Tokens): Promise<Standing>;
}

/** Clocks of servers differ by this much at most. */
const skewSeconds = 30;
const timeoutMs = 5_000;
const longestAnswer = 512 * 1024;
/** New end points and keys are noticed after this time at the latest. */
const discoveredForMs = 5 * 60_000;
const wantedScopes = ['openid', 'email', 'profile', 'groups', 'offline_access'];

export function createProviderClient(
  { issuer, clientId, clientSecret }: ProviderConfig,
  requests: Pick<GuardedRequests, 'send'>,
): ProviderClient {
  const send = guardedFetch(requests);
  let discovered: { at: number; found: Promise<Configuration> } | null = null;

  function discover(): Promise<Configuration> {
    if (discovered && Date.now() - discovered.at < discoveredForMs) return discovered.found;
    const found = discovery(new URL(issuer), clientId, {}, undefined, { [customFetch]: send });
    discovered = { at: Date.now(), found };
    // A provider that was away is asked again with the next sign-in.
    found.catch(() => {
      discovered = null;
    });
    return found;
  }

  /** With a cache of its own: keys are read anew for each sign-in, so that a rotated key is known at once. */
  async function configuration(): Promise<Configuration> {
    const metadata = (await discover()).serverMetadata();
    const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const authentication = methods.includes('client_secret_basic') ? ClientSecretBasic : ClientSecretPost;
    const one = new Configuration(
      metadata,
      clientId,
      { client_secret: clientSecret, [clockTolerance]: skewSeconds },
      authentication(clientSecret),
    );
    one[customFetch] = send;
    return one;
  }

  async function vouched(
    config: Configuration,
    answer: TokenEndpointResponse & TokenEndpointResponseHelpers,
    { subject, refresh, accessEndsAt }: { subject: string } & Omit<Tokens, 'access'>,
  ): Promise<Vouched> {
    const claims = answer.claims();
    if (claims && claims.sub !== subject) throw new Error('the provider answered with another person');
    const asked = config.serverMetadata().userinfo_endpoint !== undefined;
    const info = asked ? await fetchUserInfo(config, answer.access_token, subject) : {};
    const said: Record<string, unknown> = { ...claims, ...info };
    const seconds = answer.expiresIn?.();
    return {
      issuer: config.serverMetadata().issuer,
      subject,
      name: typeof said.name === 'string' && said.name.trim() !== '' ? said.name.slice(0, 200) : null,
      email: verifiedEmail([info, claims ?? {}]),
      groups: Array.isArray(said.groups) ? said.groups.filter((group) => typeof group === 'string') : [],
      tokens: {
        access: answer.access_token,
        refresh: answer.refresh_token ?? refresh,
        accessEndsAt: seconds === undefined ? (accessEndsAt ?? null) : Date.now() + seconds * 1000,
      },
    };
  }

  async function ask(subject: string, tokens: Tokens): Promise<Standing> {
    const config = await configuration();
    if (tokens.refresh !== null) {
      const answer = await refreshTokenGrant(config, tokens.refresh);
      return vouched(config, answer, { subject, refresh: tokens.refresh });
    }
    if (config.serverMetadata().introspection_endpoint !== undefined) {
      if (!(await tokenIntrospection(config, tokens.access)).active) return goneOrOver(tokens);
    }
    const again = { access_token: tokens.access, token_type: 'bearer', claims: () => undefined };
    return vouched(config, again as unknown as Parameters<typeof vouched>[1], { subject, ...tokens });
  }

  return {
    async begin(redirectUri, anew) {
      const config = await configuration();
      const offered = config.serverMetadata().scopes_supported;
      const expected = {
        state: randomState(),
        nonce: randomNonce(),
        verifier: randomPKCECodeVerifier(),
        anew,
      };
      const url = buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: wantedScopes
          .filter((one) => one === 'openid' || (offered ?? wantedScopes).includes(one))
          .join(' '),
        state: expected.state,
        nonce: expected.nonce,
        code_challenge: await calculatePKCECodeChallenge(expected.verifier),
        code_challenge_method: 'S256',
        ...(anew && { prompt: 'login', max_age: '0' }),
      });
      return { url, expected };
    },

    async finish(url, { state, nonce, verifier, anew }) {
      const config = await configuration();
      enableNonRepudiationChecks(config);
      const answer = await authorizationCodeGrant(config, url, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
        ...(anew && { maxAge: 0 }),
      });
      const subject = answer.claims()?.sub;
      if (subject === undefined) throw new Error('the provider gave no ID token');
      return vouched(config, answer, { subject, refresh: null });
    },

    async askAgain(subject, tokens) {
      try {
        return await ask(subject, tokens);
      } catch (error) {
        return isRefusal(error) ? goneOrOver(tokens) : 'away';
      }
    },
  };
}

/** A token that is refused before its end was revoked, or its person removed. */
function goneOrOver({ refresh, accessEndsAt = null }: Tokens): 'gone' | 'over' {
  return refresh === null && accessEndsAt !== null && Date.now() >= accessEndsAt ? 'over' : 'gone';
}

/** Each source speaks for its own email alone: one that is verified here does not verify another one there. */
function verifiedEmail(sources: Record<string, unknown>[]): string | null {
  const verified = (one: Record<string, unknown>) => String(one.email_verified) === 'true';
  if (sources.some((one) => 'email_verified' in one && !verified(one))) return null;
  const email = sources.find((one) => verified(one) && typeof one.email === 'string')?.email;
  return typeof email === 'string' ? email.trim().toLowerCase() : null;
}

/** The token or the person is not accepted any more. Everything else may pass: a server that fails, a wrong client secret. */
function isRefusal(error: unknown): boolean {
  if (error instanceof ResponseBodyError) return error.error === 'invalid_grant';
  return error instanceof WWWAuthenticateChallengeError && [401, 403].includes(error.status);
}

/** Requests of the library by way of the address guard; what the answer says of redirects is not followed. */
function guardedFetch(requests: Pick<GuardedRequests, 'send'>): CustomFetch {
  return async (url, { method, headers, body }) => {
    const answer = await requests.send({
      url,
      method: method === 'POST' ? 'POST' : 'GET',
      headers,
      ...(body != null && { body: Buffer.from(String(body)) }),
      timeoutMs,
      maxBytes: longestAnswer,
      isLocal: false,
      statuses: [200, 400, 401, 403],
    });
    return new Response(Buffer.from(answer.bytes), {
      status: answer.status,
      headers: {
        'content-type': answer.contentType,
        // Only its presence counts.
        ...(answer.status === 401 && { 'www-authenticate': 'Bearer error="invalid_token"' }),
      },
    });
  };
}
