/** Nobody saw what must never be seen: a 500, a 503 without Retry-After, a wrong signature, a refusal out of place. */
import type { Rule } from '../rule.ts';
import { expectNone } from '../violation.ts';

export const nobodyComplains: Rule = {
  name: 'no answer and no delivery was out of order',
  when: 'restart',
  async check({ journal }) {
    expectNone('complaints of the load client and the receivers', journal.complaints);
  },
};
