/** The table of all dashboard pages, from which the server's paths, the routes, the navigation and the docs are derived. */

export interface DashboardPage {
  /** `$…` is a placeholder for an id. */
  path: string;
  label: string;
  /** What the page shows. */
  about: string;
  /** Who may open it: anybody, every member of a workspace, or members whose role is developer or higher. */
  who: 'anybody' | 'members' | 'developers';
  /** For pages in the navigation: their heading and icon, and whether viewers, who cannot use the page, do not see it. */
  navigation?: { heading: string | null; icon: string; withoutViewers?: true };
  /**
   * The component is the only export of `dashboard/src/FILE-page.tsx`, loaded when the page is first opened. Absent for
   * pages in the main script: pages.tsx has them.
   */
  file?: string;
}

export const pageTable = [
  {
    path: '/sign-in',
    label: 'Sign in',
    about: 'Where people sign in',
    who: 'anybody',
  },
  {
    path: '/join',
    label: 'Join',
    about: 'Where the link of an invitation, or of the first owner, leads to',
    who: 'anybody',
  },
  {
    path: '/',
    label: 'Overview',
    about: 'What needs attention, and the figures of the workspace',
    who: 'members',
    navigation: { heading: null, icon: 'overview' },
    file: 'overview/overview',
  },
  {
    path: '/vaults',
    label: 'Vaults',
    about: 'All vaults',
    who: 'members',
    navigation: { heading: 'Evidence', icon: 'vault' },
    file: 'vaults/vaults',
  },
  {
    path: '/vaults/$address',
    label: 'Vault',
    about: 'One vault: its transactions, files, records and assets',
    who: 'members',
    file: 'vaults/vault',
  },
  {
    path: '/files',
    label: 'Files',
    about: 'All files',
    who: 'members',
    navigation: { heading: 'Evidence', icon: 'file' },
    file: 'files/files',
  },
  {
    path: '/files/$fileId',
    label: 'File',
    about: 'One file: its anchor, history, versions and validations',
    who: 'members',
    file: 'files/file',
  },
  {
    path: '/records',
    label: 'Records',
    about: 'All records',
    who: 'members',
    navigation: { heading: 'Evidence', icon: 'record' },
    file: 'records/records',
  },
  {
    path: '/records/$recordId',
    label: 'Record',
    about: 'One record: its data, anchor, proof and versions',
    who: 'members',
    file: 'records/record',
  },
  {
    path: '/import',
    label: 'Import',
    about: 'Brings in records from CSV or JSON Lines, or a folder of files',
    who: 'developers',
    navigation: { heading: 'Evidence', icon: 'upload', withoutViewers: true },
    file: 'imports/import',
  },
  {
    path: '/assets',
    label: 'Assets',
    about: 'All assets',
    who: 'members',
    navigation: { heading: 'Maintenance', icon: 'asset' },
    file: 'assets/assets',
  },
  {
    path: '/assets/$assetId',
    label: 'Asset',
    about: 'One asset: its maintenance, what is due, parts, people, history and access log',
    who: 'members',
    file: 'assets/asset',
  },
  {
    path: '/workers',
    label: 'Workers',
    about: 'All workers',
    who: 'members',
    navigation: { heading: 'Maintenance', icon: 'worker' },
    file: 'workers/workers',
  },
  {
    path: '/workers/$address',
    label: 'Worker',
    about: 'One worker: who holds the key, and the licences',
    who: 'members',
    file: 'workers/worker',
  },
  {
    path: '/webhooks',
    label: 'Webhooks',
    about: 'Endpoints with their health, and the delivery log',
    who: 'members',
    navigation: { heading: 'Integration', icon: 'webhook' },
    file: 'webhooks/webhooks',
  },
  {
    path: '/webhooks/$endpointId',
    label: 'Endpoint',
    about: 'One endpoint: its deliveries, settings and signing secret',
    who: 'members',
    file: 'webhooks/endpoint',
  },
  {
    path: '/webhooks/deliveries/$deliveryId',
    label: 'Delivery',
    about: 'One delivery: what is sent, and every attempt with its answer',
    who: 'members',
    file: 'webhooks/delivery',
  },
  {
    path: '/events',
    label: 'Events',
    about: 'What happened, newest first',
    who: 'members',
    navigation: { heading: 'Integration', icon: 'event' },
    file: 'events/events',
  },
  {
    path: '/keys',
    label: 'API keys',
    about: 'Keys for programs that use the API',
    who: 'developers',
    navigation: { heading: 'Integration', icon: 'key' },
    file: 'keys/keys',
  },
  {
    path: '/members',
    label: 'Members',
    about: 'Who works in the workspace, in which role, and who is invited',
    who: 'members',
    navigation: { heading: 'Workspace', icon: 'members' },
    file: 'members/members',
  },
  {
    path: '/approvals',
    label: 'Approvals',
    about: 'What waits for a second person, and what they decided',
    who: 'members',
    navigation: { heading: 'Workspace', icon: 'verify' },
    file: 'approvals/approvals',
  },
  {
    path: '/audit-log',
    label: 'Audit log',
    about: 'Who did what to which thing',
    who: 'members',
    navigation: { heading: 'Workspace', icon: 'audit' },
    file: 'audit/audit',
  },
  {
    path: '/settings',
    label: 'Settings',
    about: 'Your account, two-factor codes and sessions; workspaces and what they use',
    who: 'members',
    navigation: { heading: 'Workspace', icon: 'settings' },
    file: 'settings/settings',
  },
] as const satisfies readonly DashboardPage[];

export type PagePath = (typeof pageTable)[number]['path'];
