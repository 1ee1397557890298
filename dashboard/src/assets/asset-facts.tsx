/** The main facts of an asset. */
import { Anchor, Badge, Box, Group, Paper, Text, UnstyledButton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Status } from '../frame/values.tsx';
import { pathTo } from '../links.ts';
import { type Asset, usageText } from './asset.ts';
import { dueQuery } from './maintenance.ts';
import { Owner } from './owner.tsx';

export function AssetFacts({ asset, openDue }: { asset: Asset; openDue(): void }) {
  const passedOn = usageText(asset.usageFromParents);
  return (
    <Paper withBorder p="md">
      <dl className="facts">
        <Fact name="Owner" whole>
          <Owner address={asset.vaultAddress} lines={1} />
        </Fact>
        <Fact name="Serial number">{asset.serialNumber}</Fact>
        <Fact name="Part number">{asset.partNumber}</Fact>
        <Fact name="Usage">
          {passedOn === '' ? (
            usageText(asset.usage)
          ) : (
            <>
              {usageText(asset.usage)}{' '}
              <Text span size="xs" c="dimmed">
                ({passedOn} from parents)
              </Text>
            </>
          )}
        </Fact>
        <Fact name="Installed in">
          {asset.parentAssetId !== null && (
            <Anchor component={Link} to={pathTo('/assets/$assetId', asset.parentAssetId)} size="sm">
              {asset.parentAssetId}
            </Anchor>
          )}
        </Fact>
        <Fact name="State" whole>
          <Group gap={6} component="span">
            <Status value={asset.status} />
            <DueMark asset={asset} open={openDue} />
          </Group>
        </Fact>
      </dl>
    </Paper>
  );
}

/** `whole`: in a row of its own on narrow screens, because it is long or grows. */
function Fact({ name, whole = false, children }: { name: string; whole?: boolean; children: ReactNode }) {
  const nothing = children === '' || children === false;
  return (
    <Box miw={0} {...(whole && { className: 'whole' })}>
      <Text component="dt" c="dimmed" size="xs">
        {name}
      </Text>
      <Text
        component="dd"
        m={0}
        size="sm"
        style={{ overflowWrap: 'anywhere' }}
        {...(nothing && { c: 'dimmed' })}
      >
        {nothing ? '–' : children}
      </Text>
    </Box>
  );
}

function DueMark({ asset, open }: { asset: Asset; open(): void }) {
  const { data: due } = useQuery(dueQuery(asset.assetId));
  if (!due) return null;
  const overdue =
    [...due.intervals, ...due.openDefects].filter(({ overdue }) => overdue).length + due.retiredParts.length;
  const defects = due.openDefects.length;
  if (overdue === 0 && defects === 0) return null;
  const text = due.retired
    ? 'retired'
    : overdue > 0
      ? `${overdue} overdue`
      : `${defects} open ${defects === 1 ? 'defect' : 'defects'}`;
  return (
    <UnstyledButton onClick={open} aria-label={`${text}, show what is due`} display="flex">
      <Badge
        variant="light"
        color={overdue > 0 ? 'red' : 'yellow'}
        tt="none"
        radius="sm"
        style={{ cursor: 'pointer' }}
      >
        {text}
      </Badge>
    </UnstyledButton>
  );
}
