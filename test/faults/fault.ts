/** The shape of a fault: it strikes while the load runs, and returns when the service should be well again. */

import type { Fixture } from './fixture.ts';
import type { Random } from './random.ts';

export interface Fault {
  name: string;
  strike(fixture: Fixture, random: Random): Promise<void>;
}
