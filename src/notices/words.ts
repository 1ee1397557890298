/** What a notice says to people: its title, what to do about it, and the page of the dashboard about it. */
import type { EventData, NoticeType } from '../events/catalogue.ts';
import type { NoticeData } from '../events/notice.ts';

export interface Words {
  title: string;
  /** What to do, in full sentences. */
  advice: string;
  /** The path of the page. */
  path: string;
}

type Say<T extends NoticeType> = (data: NoticeData<T>) => Words;

const chainTroubles: Record<EventData['operator.chain.behind']['trouble'], [title: string, advice: string]> =
  {
    no_leader: [
      'No node works on the chain',
      'Check that a node with the role loops runs; its log says what the chain lacks.',
    ],
    anchoring_late: [
      'Records wait too long for an anchor',
      "Nothing is batched: no node leads, the chain is unavailable, or a vault's key cannot be opened. See the log of the leader.",
    ],
    batch_set_aside: [
      'A batch was set aside, and its records stay unproved',
      'Run "holdfast chain status": it says why, and what to do.',
    ],
    transaction_stuck: [
      'A transaction has not been mined or confirmed for ten minutes',
      'Run "holdfast chain status": it lists what is open, and what it waits for.',
    ],
    fees_above_cap: [
      'The chain asks for more than HOLDFAST_FEE_CAP_GWEI',
      'Anchoring continues when fees fall. Wait, or raise the cap.',
    ],
    nonce_taken: [
      "Another program uses the submitter's key",
      'Find it and stop it: anchors wait until then.',
    ],
    indexer_behind: [
      'The index is more than 20 blocks behind the chain',
      'The log of the leader says why; try another RPC address.',
    ],
    chain_stands_still: [
      'The chain has had no new block for five minutes',
      'All RPC addresses or the chain itself stand still. Ask the provider, or add an RPC address of another one.',
    ],
  };

const words: { [T in NoticeType]: Say<T> } = {
  'endpoint.failing': ({ endpoint_id, disabled }) => ({
    title: disabled ? 'A webhook endpoint is disabled after failures' : 'A webhook endpoint is failing',
    advice: disabled
      ? 'Nothing is sent to it. Enable it again once it works.'
      : 'Its last attempts say why. Deliveries are tried again for up to 24 hours.',
    path: `/webhooks/${endpoint_id}`,
  }),
  'api_key.expiring': ({ name, expires_at }) => ({
    title: `The API key "${name}" expires on ${dayOf(expires_at)}`,
    advice: 'Create another key, and replace this one before it stops working.',
    path: '/keys',
  }),
  'approval.waiting': ({ step, expires_at }) => ({
    title: `A step waits for a second person: ${step}`,
    advice: `Approve or refuse it before ${expires_at.slice(0, 16).replace('T', ' ')} UTC; then it expires.`,
    path: '/approvals',
  }),
  'asset.maintenance.due': ({ asset_id, name, due_by, life_limit }) => ({
    title: life_limit
      ? `The asset ${asset_id} has reached its life limit "${name}"`
      : `"${name}" is due on the asset ${asset_id}`,
    advice: life_limit
      ? `The limit was reached by ${due_by}. Take the asset out of service and replace it.`
      : `It is due by ${due_by}. Record the work, then complete the interval with the entry.`,
    path: `/assets/${encodeURIComponent(asset_id)}`,
  }),
  'worker.licence.expiring': ({ address, scope, number, expires_at }) => ({
    title: `The licence ${number} (${scope}) of a worker expires on ${dayOf(expires_at)}`,
    advice:
      'After that day the worker cannot inspect or certify work with it. Enter the renewed licence, or remove it.',
    path: `/workers/${address}`,
  }),
  'operator.gas.low': ({ account, anchors_left }) => ({
    title: `There is gas left for ${anchors_left.toLocaleString('en')} ${anchors_left === 1 ? 'anchor' : 'anchors'}`,
    advice: `Send funds to the submitter, ${account}. Without funds nothing is anchored.`,
    path: '/',
  }),
  'operator.chain.behind': ({ trouble }) => {
    const [title, advice] = chainTroubles[trouble];
    return { title, advice, path: '/' };
  },
  'operator.loop.failing': ({ loop, how }) => ({
    title: `The loop ${loop} is ${how}`,
    advice: 'The log of the service says why.',
    path: '/',
  }),
  'operator.disk.low': ({ node, free_bytes }) => ({
    title: `The node ${node} has ${gigabytes(free_bytes)} of disk space left`,
    advice: 'Free some space, or enlarge the disk that has the data directory.',
    path: '/',
  }),
  'operator.budget.near': ({ of_workspace_id, budget, used, limit }) => ({
    title: `The workspace ${of_workspace_id} has used ${share(used, limit)} of its budget ${budget}`,
    advice: `Over ${limit.toLocaleString('en')} its requests are refused. "holdfast workspaces limits ${of_workspace_id} ${budget}=NUMBER" sets another limit.`,
    path: '/',
  }),
};

export function wordsOf(type: NoticeType, data: Record<string, unknown>): Words {
  const { title, ...rest } = (words[type] as (data: unknown) => Words)(data);
  return { title: oneLine(title), ...rest };
}

/** Names come from people: no line of a mail may begin with one. */
function oneLine(text: string): string {
  return text
    .replace(/\p{C}+/gu, ' ')
    .slice(0, 500)
    .toWellFormed();
}

function dayOf(time: string): string {
  return time.slice(0, 10);
}

function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toLocaleString('en', { maximumFractionDigits: 1 })} GB`;
}

function share(used: number, limit: number): string {
  return limit === 0 ? 'all' : `${Math.floor((used / limit) * 100)} %`;
}
