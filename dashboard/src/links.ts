/** Where pages are: the navigation, and the paths of single things. */
import type { IconName } from './frame/icons.tsx';

export interface NavigationGroup {
  heading: string | null;
  links: { to: string; label: string; icon: IconName }[];
}

export const navigation: NavigationGroup[] = [
  { heading: null, links: [{ to: '/', label: 'Overview', icon: 'overview' }] },
  {
    heading: 'Evidence',
    links: [
      { to: '/vaults', label: 'Vaults', icon: 'vault' },
      { to: '/files', label: 'Files', icon: 'file' },
      { to: '/records', label: 'Records', icon: 'record' },
    ],
  },
  {
    heading: 'Maintenance',
    links: [
      { to: '/assets', label: 'Assets', icon: 'asset' },
      { to: '/workers', label: 'Workers', icon: 'worker' },
    ],
  },
  {
    heading: 'Integration',
    links: [
      { to: '/webhooks', label: 'Webhooks', icon: 'webhook' },
      { to: '/events', label: 'Events', icon: 'event' },
      { to: '/keys', label: 'API keys', icon: 'key' },
    ],
  },
  {
    heading: 'Workspace',
    links: [
      { to: '/members', label: 'Members', icon: 'members' },
      { to: '/audit-log', label: 'Audit log', icon: 'audit' },
      { to: '/settings', label: 'Settings', icon: 'settings' },
    ],
  },
];

export const vaultPath = (address: string) => `/vaults/${address}`;
export const filePath = (id: string) => `/files/${id}`;
export const recordPath = (id: string) => `/records/${id}`;
export const assetPath = (id: string) => `/assets/${encodeURIComponent(id)}`;
export const workerPath = (address: string) => `/workers/${address}`;
export const endpointPath = (id: string) => `/webhooks/${id}`;
export const deliveryPath = (id: string) => `/webhooks/deliveries/${id}`;
