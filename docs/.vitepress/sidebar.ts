/** The order in which the pages are read. A test holds that every page is here. */
export const sidebar = [
  {
    text: 'Begin',
    items: [
      { text: 'Quick start', link: '/guide/quick-start' },
      { text: 'Concepts', link: '/guide/concepts' },
      { text: 'What it costs on a chain', link: '/guide/costs' },
      { text: 'Compared with others', link: '/guide/compared' },
    ],
  },
  {
    text: 'Guides',
    items: [
      { text: 'Prove that a file existed', link: '/guide/prove-a-file' },
      { text: 'React to events safely', link: '/guide/react-to-events' },
      { text: 'Run a maintenance organisation', link: '/guide/maintenance-organisation' },
      { text: 'Move from a hosted service', link: '/guide/move-here' },
      { text: 'Bring your data', link: '/guide/bring-your-data' },
    ],
  },
  {
    text: 'Integrate',
    items: [
      { text: 'Calling the API', link: '/requests' },
      { text: 'Clients', link: '/clients' },
      { text: 'Webhooks', link: '/webhooks' },
      { text: 'Files', link: '/files' },
      { text: 'Assets', link: '/assets' },
      { text: 'Maintenance and sign-offs', link: '/maintenances' },
      { text: 'Dossiers', link: '/dossier' },
      { text: 'Proofs', link: '/proof' },
      { text: 'Timestamps', link: '/timestamps' },
      { text: 'Approvals', link: '/approvals' },
      { text: 'The audit log', link: '/audit-log' },
    ],
  },
  {
    text: 'Reference',
    items: [
      { text: 'Routes and scopes', link: '/routes' },
      { text: 'API reference', link: '/api', target: '_self' },
      { text: 'Errors', link: '/errors', target: '_self' },
    ],
  },
  {
    text: 'Operate',
    items: [
      { text: 'Running it', link: '/operations' },
      { text: 'Dashboard', link: '/dashboard' },
      { text: 'Security', link: '/security' },
      { text: 'Backup and restore', link: '/backup' },
      { text: 'The embedded chain', link: '/chain' },
      { text: 'Archive', link: '/archive' },
      { text: 'Releases', link: '/releases' },
      { text: 'Scaling', link: '/scaling' },
      { text: 'Performance', link: '/performance' },
      { text: 'Reliability', link: '/reliability' },
    ],
  },
];
