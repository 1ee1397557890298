/** Settings of how people sign in: the identity provider. */
import { type Role, roles } from '../runtime/caller.ts';
import { anyText, countTo, existingFile, type Field, optional, setting, splitList } from './setting.ts';

export interface ProviderConfig {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** Role by group; empty: groups decide nothing, and no accounts are made. */
  roleByGroup: ReadonlyMap<string, Role>;
  /** How long sessions go on while the provider cannot be reached. */
  sessionMinutes: number;
  /** Certificate authority of a private provider. */
  caFile: string | null;
}

const see = '[dashboard.md](dashboard.md#single-sign-on)';
const none = { words: 'none' };

const parts = {
  issuer: optional({
    name: 'HOLDFAST_OIDC_ISSUER',
    default: { words: 'none: no single sign-on' },
    about: 'The issuer of an OpenID Connect provider, with which people may sign in, as an `https` URL.',
    see,
    expected: 'give an https URL without query and fragment',
    parse(text) {
      const url = URL.canParse(text) ? new URL(text) : null;
      const isPlain =
        url?.protocol === 'https:' && url.search + url.hash + url.username + url.password === '';
      return isPlain ? text : undefined;
    },
  }),
  clientId: optional({
    name: 'HOLDFAST_OIDC_CLIENT_ID',
    default: none,
    about:
      'The client that was registered at the provider, with the redirect URI `…/auth/provider/callback`.',
    ...anyText,
  }),
  clientSecret: optional({
    name: 'HOLDFAST_OIDC_CLIENT_SECRET',
    default: none,
    about: 'The secret of that client.',
    expected: 'any text',
    secret: true,
    parse: (text) => text,
  }),
  roleByGroup: optional<ReadonlyMap<string, Role>, ReadonlyMap<string, Role>>(
    {
      name: 'HOLDFAST_OIDC_GROUPS',
      default: { words: 'none: only people who have an account sign in, in their present roles' },
      about:
        'Which role in the first workspace the members of a group have, such as `staff=developer,auditors=viewer`; the highest counts. Who is in none of them may not sign in with the provider; who is in one gets an account with the first sign-in.',
      expected: `give group=role,…; roles are ${roles.join(', ')}`,
      parse: (text) => parseGroups(text),
    },
    () => new Map(),
  ),
  sessionMinutes: setting({
    name: 'HOLDFAST_OIDC_SESSION_MINUTES',
    default: '60',
    about: 'How many minutes sessions go on while the provider cannot be reached; then they end.',
    ...countTo(7 * 24 * 60),
  }),
  caFile: optional({
    name: 'HOLDFAST_OIDC_CA_FILE',
    default: none,
    about: 'An extra certificate authority (PEM) for a provider with a private one.',
    ...existingFile,
  }),
};

/** All or none: a half-configured provider would lock people out. */
const provider: Field<ProviderConfig | null> = {
  settings: Object.values(parts).flatMap(({ settings }) => settings),
  read(given) {
    const issuer = parts.issuer.read(given);
    const clientId = parts.clientId.read(given);
    const clientSecret = parts.clientSecret.read(given);
    const roleByGroup = parts.roleByGroup.read(given);
    const sessionMinutes = parts.sessionMinutes.read(given);
    const caFile = parts.caFile.read(given);
    if (issuer === null && clientId === null && clientSecret === null) return null;
    if (issuer === null || clientId === null || clientSecret === null) {
      given.refuse(
        'HOLDFAST_OIDC_ISSUER, HOLDFAST_OIDC_CLIENT_ID and HOLDFAST_OIDC_CLIENT_SECRET belong together: set all three, or none.',
      );
      return null;
    }
    return { issuer, clientId, clientSecret, roleByGroup, sessionMinutes, caFile };
  },
};

const leakedPasswords = optional({
  name: 'HOLDFAST_LEAKED_PASSWORDS',
  default: { words: 'none: only a short list that is built in' },
  about:
    'A list of leaked passwords that nobody may choose: a file with the lines `SHA1:COUNT`, sorted by hash, or a folder with a file for each five digits that a hash begins with.',
  see: '[security.md](security.md#leaked-passwords)',
  parse: existingFile.parse,
  expected: 'there is no such file or folder',
});

export const signInSettings = { provider, leakedPasswords };

function parseGroups(text: string): ReadonlyMap<string, Role> | undefined {
  const found = new Map<string, Role>();
  for (const entry of splitList(text)) {
    // A group may contain an equals sign, as names in directories do.
    const at = entry.lastIndexOf('=');
    const role = roles.find((role) => role === entry.slice(at + 1).trim());
    if (at < 1 || !role) return undefined;
    found.set(entry.slice(0, at).trim(), role);
  }
  return found;
}
