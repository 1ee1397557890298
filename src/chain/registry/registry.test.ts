/** The built-in facts about the registry: its address, its interface, and how its deployer is deployed. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  getCreateAddress,
  parseTransaction,
  recoverTransactionAddress,
  type TransactionSerializedLegacy,
} from 'viem';
import artifact from '../../../contracts/AnchorRegistry.json' with { type: 'json' };
import { registryCode, usualRegistry } from '../../proof/evm/usual-registry.ts';
import {
  deployerAddress,
  deployerDeployment,
  deployerRuntimeCode,
  registryAbi,
  registryAddress,
  registryCodeHash,
  registryDeploymentData,
} from './registry.ts';

test('address and code of the registry stay the same, because existing proofs name them', () => {
  assert.equal(registryAddress, '0xcfaEe48D743f42264aAf3521fc464606cfafE23A');
  assert.equal(registryCodeHash, '0x306c55ab61d7e86e32417b2c6fa63432f43e36a870a6cdf8c63b691291b51de0');
});

test('the ABI matches the compiled contract', () => {
  // solc writes the source's type names and false values, which viem leaves out.
  const compiled = JSON.stringify(artifact.abi, (key, value) =>
    key === 'internalType' || value === false ? undefined : value,
  );
  assert.deepEqual(registryAbi, JSON.parse(compiled));
});

test('the deployment data are the salt followed by the creation code', () => {
  const data = registryDeploymentData();
  assert.equal(data.slice(66), artifact.creationCode.slice(2));
  assert.equal(data.length, 66 + artifact.creationCode.length - 2);
});

test('the presigned transaction creates the deployer at its address on any chain, for the stated funds', async () => {
  const serialized = deployerDeployment.rawTransaction as TransactionSerializedLegacy;
  const transaction = parseTransaction(serialized);
  assert.equal(
    await recoverTransactionAddress({ serializedTransaction: serialized }),
    deployerDeployment.signer,
  );
  assert.equal(getCreateAddress({ from: deployerDeployment.signer, nonce: 0n }), deployerAddress);
  assert.equal((transaction.gas ?? 0n) * (transaction.gasPrice ?? 0n), deployerDeployment.fundingWei);
  assert.equal(transaction.chainId, undefined);
  assert.ok(transaction.data?.endsWith(deployerRuntimeCode.slice(2)));
});

test('does not depend on Node.js', () => {
  for (const file of ['registry.ts', 'registry-code.ts']) {
    const text = readFileSync(join(import.meta.dirname, file), 'utf8');
    const imported = [...text.matchAll(/from '([^']+)'/g)].map(([, from]) => from);
    assert.deepEqual(
      imported.filter((from) => !['viem', 'viem/utils', './registry-code.ts'].includes(from ?? '')),
      [],
    );
  }
});

test('what verifiers carry about the registry follows from its code', () => {
  assert.equal(usualRegistry, registryAddress.toLowerCase());
  assert.equal(registryCode, registryCodeHash);
});
