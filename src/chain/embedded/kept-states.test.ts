/** A random run through PostgreSQL: the stored nodes are exactly those of the kept states. */
// tier: process
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { fromRlp, getContractAddress, type Hex, keccak256, numberToHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { createRandom } from '../../../test/faults/random.ts';
import {
  alloc,
  hashesAt,
  journalled,
  openFixture,
  owner,
  type TestDatabase,
} from '../../../test/support/fixtures/embedded-chain-fixture.ts';
import { seed } from '../../../test/support/service/seed.ts';
import { emptyRoot } from './engine/header-fields.ts';
import { contractCodeKey, delegationKey, ownerOf } from './engine/node-keys.ts';
import { keptStates } from './results/results.store.ts';

const blocks = 100;
const emptyCode = keccak256('0x');
/** Stores the second word of its call data in the slot that the first word names. */
const keeperCode = '6020355f355500';
const keeper: Hex = `0x66${keeperCode}5f5260076019f3`;
/** Exists only within its transaction, but stores something. */
const shortLived: Hex = '0x60015f5533ff';
/** Accounts that delegate, often to the same contract. */
const friends = [0xf1e4d, 0xf1e4e].map((key) => privateKeyToAccount(numberToHex(key, { size: 32 })));
const [zero, early] = [numberToHex(0, { size: 20 }), numberToHex(0xdead, { size: 20 })];

test('the nodes in the database are exactly those of the last 64 states', async (t) => {
  const random = createRandom(seed);
  const fixture = await openFixture(t);
  const chain = await fixture.start({ alloc });
  const send = createSender(chain.chainId);
  const contracts = [await send.create(keeper), await send.create(keeper), await send.create(keeper)];
  for (const { raw } of contracts) await chain.mine(raw);
  // To what nobody delegates to later: that was before the kept states.
  for (const friend of friends) await chain.mine(await send.delegate(friend, early));
  for (const friend of friends) await chain.mine(await send.delegate(friend, contracts[0]?.address ?? zero));

  let slot = 0;
  for (let block = 0; block < blocks; block += 1) {
    const raws: Hex[] = [];
    for (let left = random.between(0, 3); left > 0; left -= 1) raws.push(await anyTransaction());
    // Toggled within the kept states: the node of the first value is made again.
    raws.push(await send.store(contracts[0]?.address ?? '0x', 1, block % 3 === 0 ? 0 : (block % 2) + 1));
    for (const raw of raws.slice(0, -1)) await chain.call('eth_sendRawTransaction', [raw]);
    await chain.mine(raws.at(-1) ?? '0x');
  }
  assert.ok(chain.head().number > blocks);

  await t.test('as they were made block by block', () => requireExact(t, fixture.database));
  await t.test('as they are made again from the journal', async () => {
    const before = await stored(fixture.database);
    await chain.close();
    await fixture.database.pool.query(
      'truncate embedded_chain_results, embedded_chain_transactions, embedded_chain_nodes, embedded_chain_replaced',
    );
    const again = await fixture.start();
    assert.deepEqual(await hashesAt(again), await journalled(fixture));
    await requireExact(t, fixture.database);
    assert.deepEqual(new Set((await stored(fixture.database)).keys()), new Set(before.keys()));
  });

  async function anyTransaction(): Promise<Hex> {
    const { address } = random.pick(contracts);
    const kind = random.between(0, 9);
    if (kind <= 2) return send.transfer(numberToHex(random.between(1, 40) + 0xa000, { size: 20 }));
    if (kind <= 4) {
      slot += 1;
      return send.store(address, slot, random.between(1, 3));
    }
    if (kind <= 7) return send.store(address, random.between(0, slot), random.pick([0, 1, 2, 300]));
    if (kind === 8) return (await send.create(shortLived)).raw;
    return send.delegate(
      random.pick(friends),
      random.pick([...contracts.map(({ address }) => address), zero]),
    );
  }
});

/** Signs what the owner sends, one nonce after the other. */
function createSender(chainId: number) {
  let nonce = 0;
  const nonces = new Map<Friend, number>();
  const fees = { maxFeePerGas: 3_000_000_000n, maxPriorityFeePerGas: 1n };
  const sign = (sent: { to?: Hex; data?: Hex; value?: bigint }) => {
    const used = nonce;
    nonce += 1;
    return owner.signTransaction({ type: 'eip1559', chainId, nonce: used, gas: 300_000n, ...fees, ...sent });
  };
  return {
    transfer: (to: Hex) => sign({ to, value: 1n }),
    async create(data: Hex): Promise<{ raw: Hex; address: Hex }> {
      const address = getContractAddress({ from: owner.address, nonce: BigInt(nonce) });
      return { raw: await sign({ data }), address };
    },
    store: (to: Hex, slot: number, value: number) =>
      sign({
        to,
        data: `0x${[slot, value].map((word) => numberToHex(word, { size: 32 }).slice(2)).join('')}`,
      }),
    async delegate(friend: Friend, address: Hex): Promise<Hex> {
      const next = nonces.get(friend) ?? 0;
      const authorization = await friend.signAuthorization({ chainId, address, nonce: next });
      nonces.set(friend, next + 1);
      const used = nonce;
      nonce += 1;
      return owner.signTransaction({
        ...{ type: 'eip7702', chainId, nonce: used, gas: 300_000n, to: friend.address, ...fees },
        authorizationList: [authorization],
      });
    },
  };
}

/** All rows, by the hexadecimal key. */
async function stored({ pool }: TestDatabase): Promise<Map<string, Buffer>> {
  const { rows } = await pool.query<{ key: Buffer; value: Buffer }>(
    'select key, value from embedded_chain_nodes',
  );
  return new Map(rows.map(({ key, value }) => [key.toString('hex'), value]));
}

/** Walks the tries of all kept states from their roots. */
async function requireExact(t: TestContext, database: TestDatabase): Promise<void> {
  const nodes = await stored(database);
  const { rows } = await database.pool.query<{ root: Buffer }>(
    'select state_root as root from embedded_chain_results order by number desc limit $1',
    [keptStates],
  );
  assert.equal(rows.length, keptStates);
  const reached = new Set<string>();
  const missing: string[] = [];

  function visit(key: string): Buffer | null {
    if (reached.has(key)) return null;
    reached.add(key);
    const value = nodes.get(key);
    if (value === undefined) missing.push(key);
    return value ?? null;
  }

  /** `node`: the hash of a node, or a small node itself. */
  function walk(node: Rlp, prefix: string, path: string, onValue: (value: Hex, path: string) => void): void {
    if (typeof node === 'string') {
      if (node === '0x') return;
      assert.equal(node.length, 66);
      const value = visit(prefix + node.slice(2));
      if (value) walk(fromRlp(value, 'hex') as Rlp, prefix, path, onValue);
      return;
    }
    if (node.length === 17) {
      for (const [nibble, child] of node.slice(0, 16).entries()) {
        walk(child, prefix, path + nibble.toString(16), onValue);
      }
      return;
    }
    const [encoded, child] = node as [Hex, Rlp];
    const flag = Number(`0x${encoded[2]}`);
    const rest = path + encoded.slice(flag % 2 === 1 ? 3 : 4);
    if (flag >= 2) onValue(child as Hex, rest);
    else walk(child, prefix, rest, onValue);
  }

  for (const { root } of rows) {
    walk(`0x${root.toString('hex')}`, '', '', (account, hashedAddress) => {
      const [, , storageRoot, codeHash] = fromRlp(account, 'hex') as [Hex, Hex, Hex, Hex];
      const owner = ownerOf(hashedAddress);
      if (codeHash !== emptyCode) {
        const delegation = delegationKey(owner, codeHash.slice(2));
        visit(nodes.has(delegation) ? delegation : contractCodeKey(codeHash.slice(2)));
      }
      if (storageRoot !== emptyRoot) walk(storageRoot, owner, '', () => {});
    });
  }
  const leaked = [...nodes.keys()].filter((key) => !reached.has(key));
  t.diagnostic(`${nodes.size} rows, ${reached.size} reached`);
  assert.deepEqual({ missing, leaked }, { missing: [], leaked: [] });
}

type Rlp = Hex | Rlp[];
type Friend = (typeof friends)[number];
