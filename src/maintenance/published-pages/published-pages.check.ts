/** Checks that published pages are of the owner of today, and show nothing but what can be chosen. */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { rowsPass } from '../../db/rows-pass.ts';
import { writtenIds } from '../../db/written-since.ts';
import type { Check, Finding } from '../../runtime/check.ts';
import { assetFields, type Choices, entryFields } from './choices.ts';

interface PageRow {
  workspace_id: string;
  id: string;
  asset_id: string;
  vault_id: string;
  owner: string;
  choices: Choices;
}

export function publishedPagesCheck(db: Db): Check {
  const pages = rowsPass<PageRow>({
    db,
    what: 'published pages',
    table: 'published_pages',
    written: [writtenIds(db, 'published_pages', 'pag')],
    key: [
      { column: 'p.workspace_id', member: 'workspace_id' },
      { column: 'p.id', member: 'id' },
    ],
    read: ({ where, end }) => sql<PageRow>`
      select p.workspace_id, p.id, p.asset_id, p.vault_id, a.vault_id as owner, p.choices
      from published_pages p
      join assets a on a.workspace_id = p.workspace_id and a.asset_id = p.asset_id
      where ${where} ${end}`,
    judge: (rows) => rows.flatMap(judge),
  });
  return { name: 'published-pages', passes: [pages] };
}

function judge({ workspace_id: workspace, id: page, asset_id: asset, ...row }: PageRow): Finding[] {
  const findings: Finding[] = [];
  const find = (rule: string, what: string) =>
    findings.push({
      rule,
      ids: { workspace, asset, page },
      message: `The page ${page} of the asset ${asset} ${what}.`,
      advice: 'Revoke the page, and publish the asset again.',
    });
  if (row.vault_id !== row.owner) {
    find('page_of_former_owner', 'was published by a former owner, and did not end with the transfer');
  }
  if (!isKnown(row.choices)) find('page_choices', 'is to show what cannot be chosen');
  return findings;
}

function isKnown({ asset, entries }: Choices): boolean {
  const known = (all: readonly string[], chosen: unknown) =>
    Array.isArray(chosen) && chosen.every((field) => all.includes(field));
  return known(assetFields, asset) && (entries === null || known(entryFields, entries?.show));
}
