/** The AnchorRegistry contract for the service and the verifier: its interface, its code, and its one address. */
import type { Address, Hash, Hex } from 'viem';
import { concat, getCreate2Address, keccak256, parseAbi, stringToHex } from 'viem/utils';
import { registryCreationCode, registryRuntimeCode } from './registry-code.ts';

export const registryAbi = parseAbi([
  'event Anchored(address indexed submitter, bytes32 indexed root, uint64 size)',
  'function anchor(bytes32 root, uint64 size)',
  'function anchors(address submitter, bytes32 root) view returns (uint64 time, uint64 size)',
  'function verify(address submitter, bytes32[] proof, bytes32 leaf) view returns (uint64 time)',
]);

/** The keccak256 of the eth_getCode result that identifies the registry. */
export const registryCodeHash: Hash = keccak256(registryRuntimeCode);

/**
 * The deployer that most chains have: it takes salt ‖ creation code as call data and uses CREATE2, so that the address
 * depends on the code alone. https://github.com/Arachnid/deterministic-deployment-proxy
 */
export const deployerAddress: Address = '0x4e59b44847b379578588920cA78FbF26c0B4956C';

/**
 * The deployer's own code. The embedded chain has it in its genesis: so it is part of the first block, and a chain that
 * is rebuilt from its blocks has it too. State set through a node's development calls belongs to no block and would be
 * missing then.
 */
export const deployerRuntimeCode: Hex =
  '0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3';

/**
 * How to deploy the deployer to a public chain that lacks it: with its author's transaction, whose signature was made up
 * so that nobody has the signer's key. Send the signer `fundingWei` (100,000 gas at its gas price of 100 gwei), then send
 * the raw transaction. It has no chain id (which makes it valid on every chain), so a node that requires one (EIP-155)
 * refuses it; the documentation of such a chain says how it provides the deployer.
 */
export const deployerDeployment: { signer: Address; fundingWei: bigint; rawTransaction: Hex } = {
  signer: '0x3fAB184622Dc19b6109349B94811493BF2a45362',
  fundingWei: 10_000_000_000_000_000n,
  rawTransaction:
    '0xf8a58085174876e800830186a08080b853604580600e600039806000f350fe7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf31ba02222222222222222222222222222222222222222222222222222222222222222a02222222222222222222222222222222222222222222222222222222222222222',
};

const salt = keccak256(stringToHex('holdfast/registry@1'));

/** The same on every chain. */
export const registryAddress: Address = getCreate2Address({
  from: deployerAddress,
  salt,
  bytecode: registryCreationCode,
});

/**
 * Call data for a transaction to `deployerAddress` that creates the registry. Check first whether `registryAddress`
 * already has code: a second creation fails and uses up all its gas.
 */
export function registryDeploymentData(): Hex {
  return concat([salt, registryCreationCode]);
}
