/** What allows a worker to inspect or certify work. Apart, because browsers check sign-offs as well. */

export interface Licence {
  /** What it allows, as the organisation names it. */
  scope: string;
  number: string;
  authority: string;
  /** ISO 8601; null: without end. */
  expiresAt: string | null;
}
