/** Why the identity provider led nowhere, by the name in the address of the page. */
const problems: Record<string, string> = {
  expired: 'This sign-in was not begun in this browser, or has expired. Start again.',
  away: 'The identity provider cannot be reached just now. Try again shortly.',
  refused:
    'The answer of the identity provider was not accepted. Start again; if it happens again, ask the operator to look into the log.',
  somebody_else: 'You signed in as somebody else at the identity provider. Nothing was confirmed.',
  no_group: 'Your identity provider puts you into none of the groups that may use this service.',
  no_email: 'Your identity provider does not say that it has verified your email.',
  unproved_account:
    'The account with your email is not linked with your identity provider. If it is yours, sign in with its password or passkey, then link it under Settings. If not, ask the operator for it.',
  other_account: 'The account with your email belongs to somebody else at your identity provider.',
  no_account: 'You have no account here yet. Ask an owner for an invitation.',
  full: 'The workspace has no room for another member. Ask an owner to remove somebody.',
};

export function problemText(name: string): string {
  return (Object.hasOwn(problems, name) && problems[name]) || 'Signing in failed. Start again.';
}
