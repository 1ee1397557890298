/** Names and values of one thing, side by side, or stacked on narrow screens. */
import { Box, Paper, Text } from '@mantine/core';
import type { ReactNode } from 'react';

export function Details({ items }: { items: [name: string, value: ReactNode][] }) {
  return (
    <Paper withBorder p="md" component="dl" m={0} style={{ display: 'grid', gap: 10 }}>
      {items.map(([name, value]) => (
        <Box key={name} className="details-row">
          <Text component="dt" c="dimmed" size="sm">
            {name}
          </Text>
          <Text component="dd" m={0} size="sm" style={{ overflowWrap: 'anywhere' }}>
            {value}
          </Text>
        </Box>
      ))}
    </Paper>
  );
}
