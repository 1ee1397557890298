/** How nodes' answers to a raw transaction are interpreted. */
// tier: process
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../test/support/service/properties.ts';
import { RpcFault } from '../rpc/json-rpc.ts';
import { type Refusal, readRefusal } from './refusals.ts';

/** The messages from the clients' sources, with the codes that the clients use for them. */
const said: Record<Refusal['verdict'], [client: string, code: number, message: string][]> = {
  known: [
    ['geth', -32000, 'already known'],
    ['Erigon', -32000, 'ALREADY_EXISTS: already known'],
    ['Erigon', -32000, 'existing tx with same hash'],
    ['Nethermind', -32010, 'AlreadyKnown'],
    ['Besu', -32000, 'Known transaction'],
    ['anvil', -32003, 'transaction already imported'],
    ['OpenEthereum', -32010, 'Transaction with the same hash was already imported.'],
    ['Frontier', -32603, 'submit transaction to pool failed: Pool(AlreadyImported)'],
  ],
  nonce_used: [
    ['geth', -32000, 'nonce too low'],
    ['geth', -32000, 'nonce too low: address 0x00c0, tx: 4 state: 5'],
    ['reth', -32000, 'nonce too low: next nonce 5, tx nonce 4'],
    ['anvil', -32003, 'nonce too low'],
    ['Erigon', -32000, 'INTERNAL_ERROR: nonce too low'],
    ['Nethermind', -32010, 'OldNonce, Current nonce: 5, nonce of rejected tx: 4.'],
    ['Besu', -32001, 'Nonce too low'],
  ],
  underpriced: [
    ['geth', -32000, 'replacement transaction underpriced'],
    ['geth', -32000, 'transaction underpriced: gas tip cap 0, minimum needed 1'],
    ['geth', -32000, 'max fee per gas less than block base fee: address 0x00c0, maxFeePerGas: 1, baseFee: 7'],
    ['reth', -32000, 'max fee per gas less than block base fee'],
    ['older geth', -32000, 'fee cap less than block base fee'],
    ['anvil', -32003, 'transaction underpriced'],
    ['Erigon', -32000, 'INTERNAL_ERROR: could not replace existing tx'],
    ['Erigon', -32000, 'fee too low'],
    ['Nethermind', -32010, 'ReplacementNotAllowed'],
    ['Nethermind', -32010, 'FeeTooLow, MaxFeePerGas too low. MaxFeePerGas: 1, BaseFee: 7'],
    ['Nethermind', -32010, 'FeeTooLowToCompete'],
    ['Besu', -32000, 'Replacement transaction underpriced'],
    ['Besu', -32009, 'Gas price below configured minimum gas price'],
    ['Besu', -32009, 'Gas price below current base fee'],
  ],
  no_funds: [
    ['geth', -32000, 'insufficient funds for gas * price + value: balance 0, tx cost 42, overshot 42'],
    ['geth', -32000, 'insufficient funds for transfer'],
    ['reth', -32000, 'insufficient funds for gas * price + value: have 0 want 42'],
    ['anvil', -32003, 'Insufficient funds for gas * price + value'],
    ['Nethermind', -32010, 'InsufficientFunds, Account balance: 0, cumulative cost: 42'],
    ['Besu', -32004, 'Upfront cost exceeds account balance'],
  ],
  more_gas: [
    ['geth', -32000, 'intrinsic gas too low: gas 20000, minimum needed 21000'],
    ['geth', -32000, 'insufficient gas for floor data gas cost: gas 22000, minimum needed 23000'],
    ['anvil', -32003, 'intrinsic gas too low'],
    ['Besu', -32003, 'Intrinsic gas exceeds gas limit'],
  ],
  never: [
    ['geth', -32000, 'exceeds block gas limit'],
    ['geth', -32000, 'transaction gas limit too high (cap: 16777216, tx: 30000000)'],
    ['geth', -32000, 'oversized data: transaction size 140000, limit 131072'],
    ['geth', -32000, 'max initcode size exceeded: code size 60000, limit 49152'],
    ['reth', -32000, 'exceeds max transaction gas limit'],
    ['Erigon', -32000, 'gas limit too high'],
    ['Erigon', -32000, 'rlp too long'],
    ['Nethermind', -32010, 'GasLimitExceeded, Gas limit: 30000000, gas limit of rejected tx: 100000000'],
    ['Besu', -32005, 'Transaction gas limit exceeds block gas limit'],
  ],
  later: [
    ['geth', -32000, 'txpool is full'],
    ['geth', -32000, 'account limit exceeded'],
    ['geth', -32000, 'future transaction tries to replace pending'],
    ['geth', -32000, 'nonce too high'],
    ['geth', -32000, 'tx fee (1.20 ether) exceeds the configured cap (1.00 ether)'],
    ['geth', -32000, 'address already reserved'],
    ['Erigon', -32000, 'pending sub-pool is full'],
    ['Nethermind', -32010, 'NonceGap, Future nonce. Expected nonce: 5'],
    ['Besu', -32006, 'Nonce too high'],
    ['Besu', -32000, 'Transaction fee cap exceeded'],
    ['Besu', -32000, 'An invalid transaction with a lower nonce exists'],
    ['anybody', -32000, 'unknown transaction type'],
    ['anybody', -32000, 'words that nobody foresaw'],
    ['anybody', -32601, 'the method eth_sendRawTransaction does not exist'],
  ],
};

for (const [verdict, wordings] of Object.entries(said)) {
  for (const [client, code, message] of wordings) {
    test(`${client}: "${message}" means ${verdict}`, () => {
      assert.deepEqual(readRefusal(faultOf(code, message)), { verdict, reason: message });
    });
  }
}

test('an answer that is not about the transaction is no verdict, whatever its text', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('unreachable', 'limited', 'bad_answer', 'wrong_chain'),
      fc.constantFrom(...Object.values(said).flat()),
      (kind, [, , message]) => {
        // Without a code it does not come from a node: a gateway's error page may contain any words.
        assert.equal(readRefusal(new RpcFault(kind, message)), null);
      },
    ),
    { seed: 4801 },
  );
  assert.equal(readRefusal(new RpcFault('bad_answer', 'internal error', { code: -32603 })), null);
  assert.equal(readRefusal(new RpcFault('limited', 'daily limit reached', { code: -32005 })), null);
  assert.equal(readRefusal(new Error('nonce too low')), null);
});

test('any refusal gets one verdict, even if wrapped, in other case, or with a misleading host name', () => {
  const verdicts = Object.keys(said);
  fc.assert(
    fc.property(fc.string(), fc.integer(), (message, code) => {
      const refusal = readRefusal(faultOf(code, message, 'refused'));
      assert.ok(refusal && verdicts.includes(refusal.verdict));
    }),
    { seed: 4802 },
  );
  const host = 'nonce-too-low.already-known.example';
  const fault = new RpcFault('refused', `eth_sendRawTransaction at ${host}: txpool is full (-32000)`, {
    code: -32000,
  });
  assert.deepEqual(readRefusal(new Error('wrapped', { cause: fault })), {
    verdict: 'later',
    reason: 'txpool is full',
  });
  for (const [verdict, wordings] of Object.entries(said)) {
    for (const [, code, message] of wordings) {
      assert.equal(readRefusal(faultOf(code, message.toUpperCase()))?.verdict, verdict, message);
    }
  }
});

/** The fault that the RPC client makes from a node's answer. */
function faultOf(code: number, message: string, kind: 'refused' | 'bad_answer' = kindOf(code)): RpcFault {
  return new RpcFault(kind, `eth_sendRawTransaction at 127.0.0.1:8545: ${message} (${code})`, { code });
}

function kindOf(code: number): 'refused' | 'bad_answer' {
  return [-32001, -32005, -32603].includes(code) ? 'bad_answer' : 'refused';
}
