/** What allows a worker to inspect or certify work. A file of its own, because browsers check sign-offs, too. */

export interface Licence {
  /** What it allows, in the organisation's own terms. */
  scope: string;
  number: string;
  authority: string;
  /** ISO 8601; null: no expiry. */
  expiresAt: string | null;
}
