/** The dialogs and drawers of the dashboard, and how each is opened. */
import type { Page } from 'playwright-core';

export interface Dialog {
  /** As its head says. */
  title: string;
  path: string;
  /** Absent: the path alone opens it. */
  open?(page: Page): Promise<void>;
}

/** Where the things are whose pages open dialogs. */
export interface DialogPlaces {
  endpoint: string;
  asset: string;
  worker: string;
  maintenanceId: string;
}

const press = (name: string | RegExp) => async (page: Page) => {
  await page.getByRole('button', { name }).first().click();
};

const choose = (item: string) => async (page: Page) => {
  await press('Actions')(page);
  await page.getByRole('menuitem', { name: item }).click();
};

export function dialogsAt({ endpoint, asset, worker, maintenanceId }: DialogPlaces): Dialog[] {
  return [
    { title: 'New vault', path: '/vaults', open: press('New vault') },
    { title: 'Add files', path: '/files', open: press('Add files') },
    { title: 'New record', path: '/records', open: press('New record') },
    { title: 'New asset', path: '/assets', open: press('New asset') },
    { title: 'New maintenance entry', path: asset, open: press('New entry') },
    { title: 'Maintenance: repair', path: `${asset}?entry=${maintenanceId}` },
    { title: 'Sign off', path: asset, open: press('Sign off') },
    { title: 'Change asset', path: asset, open: choose('Change') },
    { title: 'New interval', path: `${asset}?tab=due`, open: press('New interval') },
    { title: 'Install a part', path: `${asset}?tab=parts`, open: press('Install a part') },
    { title: 'Grant a look', path: `${asset}?tab=people`, open: press('Grant') },
    { title: 'New worker', path: '/workers', open: press('New worker') },
    { title: 'Licences of Ada', path: worker, open: press('Add licences') },
    { title: 'New endpoint', path: '/webhooks', open: press('New endpoint') },
    { title: 'Send past events again', path: endpoint, open: press('Replay') },
    { title: 'Delete this endpoint?', path: endpoint, open: choose('Delete') },
    { title: 'New API key', path: '/keys', open: press('New key') },
    { title: 'Invite somebody', path: '/members', open: press('Invite') },
  ];
}
