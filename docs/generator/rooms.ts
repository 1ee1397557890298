/** The rooms of the house: from the top floor down, each with its one job. test/architecture.test.ts holds them. */
import { table } from './markdown.ts';

export interface Room {
  path: string;
  job: string;
}

/** A floor imports only from itself and from those below. Rooms of one floor are listed beside each other. */
export const floors: Room[][] = [
  [
    { path: 'src/main.ts', job: 'Starts the command line' },
    { path: 'src/cli/', job: 'The command line, one file per command' },
  ],
  [
    {
      path: 'src/app/',
      job: 'Starts the parts of the service in order, and stops them; `checks.ts` has all checks of `fsck`',
    },
  ],
  [
    { path: 'src/maintenance/', job: 'Puts the rooms of this wing together: routes, running exports' },
    { path: 'src/maintenance/assets/', job: 'Assets: versions, installation, who may see them' },
    { path: 'src/maintenance/viewers/', job: 'Viewers and workers of an asset, and the log of who looked' },
    { path: 'src/maintenance/entries/', job: 'Maintenance entries: recorded, listed, proved; open defects' },
    { path: 'src/maintenance/signing/', job: 'PURE: what is hashed and signed, and who may sign it' },
    { path: 'src/maintenance/signoffs/', job: 'Signing an entry off, and who may have the service sign' },
    {
      path: 'src/maintenance/passkeys/',
      job: 'Passkeys of workers: invited, registered, confirmed, used, revoked',
    },
    { path: 'src/maintenance/sign-page/', job: 'The page on which workers register passkeys and sign' },
    { path: 'src/maintenance/published-pages/', job: 'Pages of assets that everyone with the link may see' },
    { path: 'src/maintenance/intervals/', job: 'Maintenance intervals, and what is due' },
    { path: 'src/maintenance/workers/', job: 'Workers and their licences' },
    {
      path: 'src/maintenance/dossier/',
      job: 'The dossier of an asset, its logbook and release certificates',
    },
    { path: 'src/maintenance/dossier-check/', job: 'PURE: the format of a dossier, and its verifier' },
  ],
  [
    { path: 'src/holdings/', job: 'Puts the rooms of this wing together: routes, loops' },
    { path: 'src/holdings/vaults/', job: 'Vaults and their transactions' },
    { path: 'src/holdings/records/', job: 'Records and their versions' },
    { path: 'src/holdings/files/', job: 'Files: versions, content, erasure, history' },
    { path: 'src/holdings/files/validation/', job: 'Validation of files against their anchors' },
    { path: 'src/holdings/transfers/', job: 'Transfers of files and assets from vault to vault' },
    { path: 'src/holdings/holds/', job: 'Legal holds, and the journal of what was erased' },
    { path: 'src/holdings/retention/', job: 'How long vaults keep data and content' },
    { path: 'src/holdings/certificates/', job: 'Certificates in PDF' },
    {
      path: 'src/holdings/evidence-package/',
      job: 'Everything about one version in a ZIP that others can check',
    },
    { path: 'src/holdings/audit-proofs/', job: 'Anchoring of the audit log, and its proofs' },
    {
      path: 'src/holdings/verify-page/',
      job: 'The page `/verify`, and the relay by which it asks the chain',
    },
    { path: 'src/holdings/overview/', job: 'Figures of a workspace, and what it has used of its budgets' },
  ],
  [
    { path: 'src/clocks/', job: 'Has batches stamped by timestamp authorities and OpenTimestamps' },
    { path: 'src/clocks/opentimestamps/', job: 'Asks OpenTimestamps calendars' },
    { path: 'src/notices/', job: 'Tells people what needs their attention: raised, cleared, mailed, listed' },
  ],
  [
    {
      path: 'src/anchoring/',
      job: 'What all anchored things share: state, list, check, confirmation event, proofs',
    },
    { path: 'src/anchoring/batching/', job: 'Pending leaves to sealed batches' },
    { path: 'src/anchoring/leaves/', job: 'Where leaves are: in a batch, waiting for one, or new' },
    { path: 'src/anchoring/archive/', job: 'Old records in files: moved there, read, brought back' },
    { path: 'src/anchoring/evidence/', job: 'What others vouch for, and what the heads of batches cover' },
    { path: 'src/webhooks/', job: 'Puts the rooms of this wing together: routes, loops, metrics' },
    { path: 'src/webhooks/endpoints/', job: 'Endpoints and their secrets, test events' },
    { path: 'src/webhooks/deliveries/', job: 'The log of deliveries, its partitions and checks' },
    { path: 'src/webhooks/replays/', job: 'Sending again what was sent before' },
    { path: 'src/webhooks/portal/', job: 'Links that show one endpoint to somebody without an account' },
    {
      path: 'src/webhooks/ordering/',
      job: 'The lines of ordered endpoints: the events of a resource one after the other',
    },
    {
      path: 'src/webhooks/dispatch/',
      job: 'The queue, lanes and the dispatcher; retries and endpoint health',
    },
    {
      path: 'src/webhooks/exchange/',
      job: 'One signed request to a receiver, and its answer',
    },
    {
      path: 'src/backup/',
      job: 'Backup and restore: all tables of one snapshot, the blobs and a signed manifest in one archive',
    },
    {
      path: 'src/backup/point-in-time/',
      job: 'Base backups and the archived log of the embedded database, and how a moment is restored from them',
    },
  ],
  [
    { path: 'src/events/', job: 'The outbox, the order of the feed, its stream' },
    { path: 'src/access/', job: 'Puts the rooms of this wing together: routes, loops, who is calling' },
    { path: 'src/access/api-keys/', job: 'API keys, and who a request comes from' },
    { path: 'src/access/people/', job: 'Sign-in, sessions, members, invitations' },
    { path: 'src/access/accounts/', job: 'What proves who a person is, and what ends with it' },
    { path: 'src/access/passkeys/', job: 'Passkeys with which people sign in and confirm' },
    {
      path: 'src/access/provider/',
      job: 'Single sign-on: the OpenID Connect provider, its people and sessions',
    },
    { path: 'src/access/approvals/', job: 'Steps that need a second person: asked for, approved, refused' },
    { path: 'src/access/workspaces/', job: 'Workspaces and their limits' },
    { path: 'src/access/audit/', job: 'The audit log and its chain' },
  ],
  [
    { path: 'src/http/server/', job: 'The Fastify server: start, stop, metrics, OpenAPI' },
    {
      path: 'src/http/pages/',
      job: 'The dashboard, the API reference, the site of the documents, bundles of pages',
    },
    {
      path: 'src/http/api/',
      job: 'What routes use: pages of lists, idempotency, errors, uploads, validation',
    },
    { path: 'src/http/admission/', job: 'Who is asking, and how often they may' },
    { path: 'src/http/bodies/', job: 'Bodies in and out: limits, JSON, forms, ranges, compression' },
  ],
  [
    { path: 'src/chain/', job: 'Opens the chain that is configured' },
    { path: 'src/chain/indexer/', job: 'Follows the chain block by block, through reorganisations' },
    {
      path: 'src/chain/sender/',
      job: 'Outgoing transactions: nonces, fees, signed bytes, until they are final',
    },
    { path: 'src/chain/lead/', job: 'Which node may write to the chain' },
    {
      path: 'src/chain/embedded/',
      job: 'The chain that Holdfast runs itself, with its journal and its pool',
    },
    { path: 'src/chain/embedded/check/', job: 'What `fsck` checks of the embedded chain' },
    { path: 'src/chain/embedded/answers/', job: 'The calls that the embedded chain answers' },
    { path: 'src/chain/embedded/answers/formats/', job: 'Blocks, transactions and receipts as JSON' },
    { path: 'src/chain/embedded/results/', job: 'What the execution of blocks gave, in the database' },
    { path: 'src/chain/embedded/engine/', job: 'The process that executes transactions and calls' },
    { path: 'src/chain/registry/', job: 'The registry contract: deployed, read' },
    { path: 'src/chain/rpc/', job: 'JSON-RPC over several nodes' },
    { path: 'src/blobs/', job: 'The bytes of files, encrypted, on disk or in S3' },
  ],
  [
    {
      path: 'src/proof/verify/',
      job: 'PURE: the documents of proofs and histories, their clocks, the verifier',
    },
    {
      path: 'src/chain/rules/',
      job: 'PURE: how to read what a node answers: temporary errors, when a block is final',
    },
    { path: 'src/proof/evm/', job: 'PURE: known chains, and blocks that show a receipt without a node' },
    { path: 'src/proof/rfc3161/', job: 'PURE: reads and judges tokens of timestamp authorities' },
    { path: 'src/proof/opentimestamps/', job: 'PURE: reads, writes and judges OpenTimestamps proofs' },
    { path: 'src/proof/signoff/', job: 'PURE: what a worker signs, and whether the signature is theirs' },
    { path: 'src/proof/', job: 'PURE: digest, leaf, Merkle tree, seal and head; runs in browsers' },
    {
      path: 'src/bulk/',
      job: 'PURE: imports of many records and files: reads CSV and JSON Lines, plans the requests, runs them',
    },
  ],
  [{ path: 'src/keys/', job: 'The keyring: private keys and secrets under the master key' }],
  [
    { path: 'src/db/', job: 'PostgreSQL: pool, migrations, group commit, leadership' },
    {
      path: 'src/db/migrations/',
      job: 'Applies migrations beside a running service, and which newer ones are bearable',
    },
    { path: 'src/db/tables/', job: 'The columns of all tables, as types' },
    { path: 'src/db/embedded/', job: 'The PostgreSQL that Holdfast runs itself' },
    {
      path: 'src/db/server/',
      job: 'The servers of DATABASE_URL: which one takes writes, and what is refused',
    },
    {
      path: 'src/config/',
      job: 'Settings: the table of all of them, and how the environment becomes a `Config`',
    },
    { path: 'src/metrics/', job: 'The table of all metrics, and helpers for reporting them' },
    {
      path: 'src/egress/',
      job: 'Requests to the servers of others: which addresses they may reach, and the connection to those alone',
    },
    { path: 'src/pdf/', job: 'Draws documents: pages, tables, QR codes, all scripts' },
    {
      path: 'src/input/',
      job: 'PURE: what callers may send: for the service, and for those who prepare requests',
    },
  ],
  [
    {
      path: 'src/runtime/',
      job: 'Loops, errors, ids, callers, the framework of `fsck` checks: what every floor uses',
    },
  ],
];

export function roomsTable(): string {
  return table(
    ['floor', 'room', 'its one job'],
    floors.flatMap((rooms, index) =>
      rooms.map(({ path, job }) => [String(floors.length - index), `\`${path}\``, job]),
    ),
  );
}
