/** How long and how often an asset was used: counted up, never down. */
import { AppError } from '../errors.ts';
import type { Usage } from './asset-document.ts';

/** The usage from now on; throws conflict when it would go down. */
export function raisedUsage(before: Usage, given: Partial<Usage>): Usage {
  for (const counter of ['hours', 'cycles'] as const) {
    const value = given[counter];
    if (value !== undefined && value < before[counter]) {
      throw new AppError(
        'conflict',
        `usage.${counter} is ${before[counter]} already and cannot go down to ${value}.`,
      );
    }
  }
  return { hours: given.hours ?? before.hours, cycles: given.cycles ?? before.cycles };
}
