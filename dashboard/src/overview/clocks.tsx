/** Who vouches for the time of what is anchored: the chain, timestamp authorities, OpenTimestamps. */
import { Group, Paper, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Time } from '../frame/values.tsx';
import type { Stats } from './stats.ts';

export function Clocks({ chain, clocks }: Pick<Stats, 'chain' | 'clocks'>) {
  return (
    <Paper withBorder px="md" py="sm" role="group" aria-label="Clocks that vouch">
      <Group gap="lg" style={{ rowGap: 4 }}>
        <Text size="sm" c="dimmed">
          Clocks that vouch
        </Text>
        <Clock name={chain ? `Chain ${chain.chainId}` : 'Chain'}>{stateOfChain(chain)}</Clock>
        {clocks.authorities.map(({ name, lastTokenAt, awaySince }) => (
          <Clock key={name} name={name}>
            {awaySince ? (
              <Text span inherit fw={550}>
                away since <Time at={awaySince} />
              </Text>
            ) : lastTokenAt ? (
              <>
                last stamp <Time at={lastTokenAt} />
              </>
            ) : (
              'no stamp yet'
            )}
          </Clock>
        ))}
        {clocks.openTimestamps && (
          <Clock name="OpenTimestamps">{stateOfCalendars(clocks.openTimestamps)}</Clock>
        )}
      </Group>
    </Paper>
  );
}

function Clock({ name, children }: { name: string; children: ReactNode }) {
  return (
    <Text size="sm" component="div" style={{ overflowWrap: 'anywhere' }}>
      <Text span inherit fw={550}>
        {name}
      </Text>{' '}
      {children}
    </Text>
  );
}

function stateOfCalendars({ pending, unchecked }: NonNullable<Stats['clocks']['openTimestamps']>): string {
  const waiting = `${pending.toLocaleString('en')} pending`;
  return unchecked === 0 ? waiting : `${waiting}, ${unchecked.toLocaleString('en')} not checked`;
}

function stateOfChain(chain: Stats['chain']): ReactNode {
  if (!chain) return 'not reached yet';
  if (chain.embedded) return 'by this service alone';
  return chain.indexedAt ? (
    <>
      block of <Time at={chain.indexedAt} />
    </>
  ) : (
    'no block yet'
  );
}
