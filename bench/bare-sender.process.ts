/** The bare peer of webhook deliveries: a loop that signs and posts, with nothing written down. */
import { type Backlog, parcelsOf } from './backlog.ts';
import { answerQuestions } from './child.ts';
import { connections, createSender } from './sender.ts';

answerQuestions<{ origin: string; backlog: Backlog }, null>(async ({ origin, backlog }) => {
  const send = createSender(origin);
  const parcels = parcelsOf(backlog);
  const sendOnAndOn = async () => {
    for (let next = parcels.next(); !next.done; next = parcels.next()) await send(next.value);
  };
  await Promise.all(Array.from({ length: connections }, sendOnAndOn));
  return null;
});
