/** The transactions of a vault, newest first, between two days; scrolling loads more. */
import { Group } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { callWhole } from '../api/call.ts';
import { useAsList } from '../api/lists.ts';
import { type Column, DataTable } from '../frame/data-table.tsx';
import { useFilters } from '../frame/filters.ts';
import { EmptyState } from '../frame/states.tsx';
import { TextFilter } from '../frame/text-filter.tsx';
import { Code, Time } from '../frame/values.tsx';
import type { VaultTransaction } from './vault.ts';

const columns: Column<VaultTransaction>[] = [
  {
    title: 'Transaction',
    cell: ({ hash, timestamp }) => (
      <>
        <Code value={hash} label="transaction hash" />
        <span className="row-note mantine-hidden-from-sm">
          <Time at={timestamp} />
        </span>
      </>
    ),
  },
  { title: 'From', cell: ({ from }) => <Code value={from} label="sender" />, wide: true },
  { title: 'To', cell: ({ to }) => <Code value={to} label="receiver" />, wide: true },
  { title: 'Value', cell: ({ value }) => <Amount wei={value} />, align: 'right' },
  { title: 'Time', cell: ({ timestamp }) => <Time at={timestamp} />, align: 'right', wide: true },
];

export function TransactionList({ address }: { address: string }) {
  const [{ from = '', to = '' }, setFilter] = useFilters('from', 'to');
  return (
    <>
      <Group gap="sm" mb="md" align="flex-end">
        <TextFilter
          type="date"
          label="From day (UTC)"
          value={from}
          set={(value) => setFilter('from', value)}
        />
        <TextFilter type="date" label="To day (UTC)" value={to} set={(value) => setFilter('to', value)} />
      </Group>
      <Transactions address={address} initialDate={from} finalDate={to} />
    </>
  );
}

/** Empty dates: no bound. */
interface TransactionsProps {
  address: string;
  initialDate: string;
  finalDate: string;
}

/** A component of its own, so that the filters do not render again as pages load. */
function Transactions({ address, initialDate, finalDate }: TransactionsProps) {
  const pages = useInfiniteQuery({
    queryKey: ['vaults', 'transactions', address, initialDate, finalDate],
    async queryFn({ pageParam, signal }) {
      const body = {
        limit: 200,
        ...(initialDate !== '' && { initialDate }),
        ...(finalDate !== '' && { finalDate }),
        ...(pageParam !== undefined && { cursor: pageParam }),
      };
      const { json, response } = await callWhole<VaultTransaction[]>(
        'POST',
        `/platform/vaults/${address}/transactions`,
        { body, signal },
      );
      return { items: json, next: response.headers.get('x-next-cursor') };
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
  });
  const filtered = initialDate !== '' || finalDate !== '';
  return (
    <DataTable
      list={useAsList(pages)}
      label="Transactions"
      columns={columns}
      keyOf={({ hash }) => hash}
      empty={
        <EmptyState
          icon="transfer"
          title={filtered ? 'No transactions on these days' : 'No transactions yet'}
        >
          {filtered
            ? 'Choose other days.'
            : 'Transfers to or from the vault appear here, and the anchors of its content.'}
        </EmptyState>
      }
    />
  );
}

const weiPerEther = 10n ** 18n;

/** Digits shown after the decimal point; the tooltip has all. */
const shownDigits = 6;

/** In ether if that is readable, otherwise in wei. */
function Amount({ wei }: { wei: string }) {
  const amount = BigInt(wei);
  if (amount === 0n) return <span className="dimmed">0</span>;
  const fraction = (amount % weiPerEther).toString().padStart(18, '0').replace(/0+$/, '');
  const cut = fraction.length > shownDigits ? `${fraction.slice(0, shownDigits)}…` : fraction;
  const text =
    amount < 10n ** 12n
      ? `${amount.toLocaleString('en')} wei`
      : `${(amount / weiPerEther).toLocaleString('en')}${fraction === '' ? '' : `.${cut}`} ETH`;
  return (
    <span className="nowrap" title={`${wei} wei`}>
      {text}
    </span>
  );
}
