/** The name of an actor: people by name, programs by the end of their key's id. */
import { useQuery } from '@tanstack/react-query';
import { membersQuery } from './member.ts';

export interface Actor {
  kind: string;
  id: string;
}

export function useActorName(): (actor: Actor) => string {
  const { data: members } = useQuery(membersQuery);
  return ({ kind, id }) => {
    if (kind === 'command') return 'command line';
    if (kind === 'api_key') return `API key …${id.slice(-6)}`;
    if (kind === 'portal_link') return `portal link …${id.slice(-6)}`;
    if (kind !== 'user') return id;
    // As high as the name that follows, so that nothing jumps.
    return members ? (members.find((member) => member.id === id)?.name ?? id) : '…';
  };
}
