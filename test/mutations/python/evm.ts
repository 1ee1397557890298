/** Blocks, receipts and nodes, in the second verifier: each rule left out, and the vector that has to turn red. */
import { replacing, withoutEnds, withoutRules } from './python-mutation.ts';

export const evmInPython = [
  ...withoutRules('evm/chain.py', [
    [
      'the header of the inclusion has another hash',
      'found.block_hash == anchor.block_hash',
      'inclusion-other-hash',
    ],
    [
      'the header of the inclusion has another number',
      'found.block_number == anchor.block_number',
      'inclusion-other-number',
    ],
    [
      'the header of the inclusion has another time',
      'found.block_time == anchor.block_time',
      'inclusion-other-time',
    ],
    [
      'the transaction of the inclusion was reverted',
      'found.receipt.succeeded',
      'inclusion-receipt-reverted',
    ],
    [
      'the trust file has another hash for this block',
      'not hashes or anchor.block_hash in hashes',
      'evm-trusted-hash-differs',
    ],
    ['the node has another block of this number', 'block.hash == anchor.block_hash', 'node-other-block'],
    ["the node's block has another time", 'block.time == anchor.block_time', 'node-other-time'],
    [
      "the node's block does not have the transaction",
      'anchor.transaction_hash in transactions',
      'node-transaction-not-in-the-block',
    ],
    ['the node says that the transaction was reverted', 'receipt.succeeded', 'node-receipt-reverted'],
    [
      'the node has the transaction in a block of another number',
      'receipt.block_number == anchor.block_number',
      'node-receipt-in-a-block-of-another-number',
    ],
    [
      'the node has the transaction in another block',
      'receipt.block_hash == anchor.block_hash',
      'node-receipt-in-another-block',
    ],
    [
      "the node's block has another transaction at that index",
      'there == [anchor.transaction_hash]',
      'node-other-transaction-at-the-index',
    ],
  ]),
  ...withoutEnds('evm/chain.py', [
    ['no node of the chain was given', 'node is None', 'evm-offline-untrusted'],
    ['the node is one of another chain', 'chain_id != anchor.chain_id', 'chain-node-of-another'],
    ['the node does not have the block', 'block is None', 'node-pruned'],
    ['the node no longer has the receipt of the transaction', 'receipt is None', 'node-receipt-missing'],
    [
      'the chain of the node has another first block',
      'first is None or first.hash not in genesis_hashes',
      'chain-named-other-genesis',
    ],
    [
      'the node is one for development',
      'any(name in version for name in _DEVELOPMENT_NODES)',
      'chain-development-node-anvil',
    ],
  ]),
  ...replacing('evm/chain.py', [
    [
      'the receipt of the inclusion has no log about this root, size and submitter',
      'require(logged, "The receipt of the inclusion has no log about this root, size and submitter.")',
      'require(True, "The receipt of the inclusion has no log about this root, size and submitter.")',
      'inclusion-log-of-another-contract',
    ],
    [
      "the node's receipt has no log about this root, size and submitter",
      'require(logged, "The node\'s receipt has no log about this root, size and submitter.")',
      'require(True, "The node\'s receipt has no log about this root, size and submitter.")',
      'node-receipt-log-of-another-contract',
    ],
  ]),
  ...withoutRules('evm/inclusion.py', [
    [
      'header and nodes have more than 65,536 bytes together',
      'total <= _MOST_BYTES',
      'inclusion-of-65537-bytes',
    ],
    ['the header has fewer than 15 fields', 'len(header) >= 15', 'inclusion-header-of-14-fields'],
  ]),
  ...withoutRules('evm/judge.py', [
    ['the contract is not the registry', 'anchor.contract == context.registry', 'evm-registry-differs'],
    [
      'the named registry has no code, or other code',
      'keccak256(code) == _CODE_HASH',
      'evm-registry-named-other-code',
    ],
  ]),
  ...withoutEnds('evm/judge.py', [
    ['nobody knows when a block of the chain is final', 'chain is None', 'chain-unknown-by-node'],
    ['the node does not say which block is final', 'final is None', 'node-finality-unknown'],
    ['the block is not final yet', 'final < anchor.block_number', 'node-not-final'],
  ]),
  ...withoutEnds('evm/node.py', [
    [
      'an answer of a node is no quantity',
      'not isinstance(value, str) or not _QUANTITY.fullmatch(value)',
      'node-answer-malformed',
    ],
    [
      'an answer of a node is no data',
      'not isinstance(value, str) or not _DATA.fullmatch(value)',
      'node-receipt-log-with-odd-data',
    ],
    ['an answer of a node is no list', 'not isinstance(value, list)', 'node-block-without-transactions'],
    ['an answer of a node is no object', 'not isinstance(value, dict)', 'node-block-0-a-text'],
    ['a number of a node is beyond 2^53', 'number > _MOST_QUANTITY', 'node-block-time-2-53'],
    ['a hash of a node has not 32 bytes', 'len(data) != 32', 'node-block-hash-of-31-bytes'],
    [
      'a receipt is of another transaction',
      '_hash(receipt.get("transactionHash"), "a transaction") != transaction_hash',
      'node-receipt-of-another-transaction',
    ],
  ]),
  ...replacing('evm/node.py', [
    [
      'the name of a client is no text',
      'if not isinstance(version, str) or not version:',
      'if version == "":',
      'node-client-an-object',
    ],
    [
      'the name of a client is empty',
      'if not isinstance(version, str) or not version:',
      'if not isinstance(version, str):',
      'node-client-empty',
    ],
    [
      'a topic of a log has not 32 bytes',
      '[_hash(topic, "a topic")',
      '[_data(topic, "a topic")',
      'node-receipt-log-topic-of-31-bytes',
    ],
    [
      'a transaction of a block has not 32 bytes',
      '[_hash(each, "a transaction")',
      '[_data(each, "a transaction")',
      'node-block-transaction-of-31-bytes',
    ],
    [
      'a number of a node has more than 14 digits',
      '0x[0-9a-fA-F]{1,14}',
      '0x[0-9a-fA-F]{1,64}',
      'node-chain-id-of-15-digits',
    ],
    [
      'a node has no newest block',
      'if head is None:\n            raise _senseless("no newest block")\n        at = {"blockHash": "0x" + head.hash.hex()}',
      'at = "latest"',
      'node-head-null-for-a-named-registry',
    ],
  ]),
  ...withoutRules('evm/receipt.py', [
    ['a log has not three fields', 'len(fields) == 3', 'inclusion-log-of-four-fields'],
    ['a log has more than four topics', 'len(topics) <= 4', 'inclusion-log-with-five-topics'],
    [
      'the receipt has another number of fields',
      'len(fields) == 4 or deposit',
      'inclusion-receipt-of-a-deposit-one-more',
    ],
  ]),
  ...replacing('evm/receipt.py', [
    [
      'the gas of a receipt is no integer',
      'as_integer(fields[1], "The gas")',
      'pass',
      'inclusion-receipt-gas-beyond-2-53',
    ],
    [
      'the bloom of a receipt is of another length',
      'as_sized(fields[2], 256, "The bloom")',
      'pass',
      'inclusion-receipt-bloom-of-255-bytes',
    ],
    [
      'a further field of a deposit is no integer',
      'as_integer(extra, "A further field of a deposit\'s receipt")',
      'pass',
      'inclusion-receipt-of-a-deposit-not-integers',
    ],
  ]),
  ...withoutRules('evm/rlp.py', [
    ['an item of RLP goes beyond its list', 'start + length <= end', 'inclusion-rlp-item-beyond-its-list'],
    ['lists of RLP are more than four deep', 'level < MOST_LEVELS', 'inclusion-rlp-five-levels'],
    ['RLP is empty', 'len(data) > 0', 'inclusion-receipt-of-its-type-alone'],
    ['something follows the end of RLP', 'end == len(data)', 'inclusion-header-surplus'],
    ['an item of RLP is of another length', 'len(data) == size', 'inclusion-log-address-of-21-bytes'],
    [
      'an integer of RLP has a leading zero',
      'data[:1] != b"\\0"',
      'inclusion-header-number-with-leading-zero',
    ],
    ['an integer of RLP is beyond 2^53 - 1', 'value <= _MOST_INTEGER', 'inclusion-receipt-gas-beyond-2-53'],
    ['a length of RLP has a leading zero', 'data[at + 1] != 0', 'inclusion-rlp-length-with-leading-zero'],
    ['a short item of RLP has the long form', 'length > 55', 'inclusion-rlp-long-form-of-a-short-list'],
    [
      'a byte of RLP that stands for itself has a prefix',
      'stop - start != 1 or data[start] >= 0x80',
      'inclusion-rlp-byte-with-prefix',
    ],
  ]),
  ...withoutEnds('evm/rlp.py', [
    [
      'an item of RLP is bytes where a list should be',
      'not isinstance(item, list)',
      'inclusion-log-topics-a-string',
    ],
    [
      'an item of RLP is a list where bytes should be',
      'not isinstance(item, bytes)',
      'inclusion-log-data-a-list',
    ],
  ]),
  ...withoutRules('evm/trie.py', [
    ["a node's path is empty", 'len(nibbles) > 0', 'inclusion-trie-empty-path'],
    ["a node's path has an unknown flag", 'flag <= 3', 'inclusion-trie-wrong-flag'],
    ["a node's path has padding that is not zero", 'odd or nibbles[1] == 0', 'inclusion-trie-wrong-padding'],
    ['an extension has no path', 'is_leaf or len(rest) > 0', 'inclusion-trie-extension-of-nothing'],
    [
      'a node of the trie is not the one that is referred to',
      'keccak256(encoded) == reference',
      'inclusion-trie-other-leaf',
    ],
    ['a node of the trie has neither 17 nor two items', 'len(node) == 2', 'inclusion-trie-three-items'],
    [
      'a node of the trie is on the way to another key',
      'left[: len(path)] == path',
      'inclusion-trie-extension-elsewhere',
    ],
    ['a branch is where the key has ended', 'len(left) > 0', 'inclusion-trie-branch-after-the-key'],
    ['a leaf is where the key has not ended', 'len(left) == 0', 'inclusion-trie-leaf-too-short'],
    ['nodes follow the leaf', 'place == len(nodes)', 'bound-inclusion-16-nodes'],
  ]),
];
