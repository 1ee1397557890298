/** Where something is anchored, or its progress so far. */
import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Code, Status, Time } from './values.tsx';

export interface AnchorShape {
  chainId: number;
  transactionHash: string;
  blockNumber: number;
  anchoredAt: string;
}

/** Rows for `Details`. */
export function anchorRows(status: string, anchor: AnchorShape | null): [string, ReactNode][] {
  if (!anchor) {
    return [
      [
        'Anchor',
        <Text key="waiting" size="sm" component="span">
          <Status value={status} /> This takes a second or two; the page updates itself.
        </Text>,
      ],
    ];
  }
  return [
    ['Anchor', <Status key="status" value={status} />],
    ['Anchored', <Time key="time" at={anchor.anchoredAt} exact />],
    ['Transaction', <Code key="hash" value={anchor.transactionHash} label="transaction hash" whole />],
    ['Block', `${anchor.blockNumber.toLocaleString('en')} on chain ${anchor.chainId}`],
  ];
}
