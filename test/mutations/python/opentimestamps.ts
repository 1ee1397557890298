/** OpenTimestamps, in the second verifier: each rule left out, and the vector that has to turn red. */
import { replacing, withoutEnds, withoutRules } from './python-mutation.ts';

export const opentimestampsInPython = [
  ...withoutRules('opentimestamps/file.py', [
    ['a file of OpenTimestamps has more than 65,536 bytes', 'len(data) <= _MOST_FILE', 'ots-file-65537'],
    ['the file names an unknown hash function', 'hash_tag in HASHES', 'ots-hash-unknown'],
    ['the file is cut off', 'self.at + count <= len(self.data)', 'ots-cut-off'],
    ['a number has too many bytes', 'False', 'ots-number-that-goes-on'],
    ['an argument is too short', 'size >= least', 'ots-append-nothing'],
    ['an argument, an address or a payload is too long', 'size <= most', 'ots-address-1001'],
    [
      'something follows where a file or payload should end',
      'self.at == len(self.data)',
      'ots-bitcoin-surplus',
    ],
    ['a result is longer than 4,096 bytes', 'length <= _MOST_MESSAGE', 'ots-message-4097'],
    [
      'all results together have more than 262,144 bytes',
      'self.results <= _MOST_RESULTS',
      'ots-results-262145',
    ],
    [
      'more than 255 operations follow each other',
      'message.operations < _MOST_OPERATIONS',
      'ots-operations-256',
    ],
    [
      'the address of a calendar has a character that is not allowed',
      '_ADDRESS.fullmatch(address) is not None',
      'ots-pending-line-break',
    ],
    ['an operation is unknown', 'tag in HASHES or tag in (REVERSE, HEXLIFY)', 'ots-unknown-operation'],
    ['a tree has the same entry twice', 'entry not in entries', 'ots-attestation-twice'],
    ['a number is padded with zeros', 'byte != 0 or place == 0', 'ots-litecoin-with-zeros'],
    ['a number is too large', 'value <= _MOST_NUMBER', 'ots-number-too-large'],
  ]),
  ...replacing('opentimestamps/file.py', [
    [
      'the file does not begin like one of OpenTimestamps',
      'require(reader.bytes.take(len(MAGIC)) == MAGIC,',
      'require(reader.bytes.take(len(MAGIC)) == MAGIC or True,',
      'ots-magic',
    ],
    [
      'the file is not of version 1',
      'require(reader.bytes.number() == 1,',
      'require(reader.bytes.number() == 1 or True,',
      'ots-version-2',
    ],
    ['something follows the tree of a file', 'reader.bytes.end("the tree")', 'pass', 'ots-surplus'],
    [
      'something follows the address of a calendar',
      'payload.end("the address of a calendar")',
      'pass',
      'ots-pending-surplus',
    ],
    [
      'something follows the height of a block',
      'payload.end("the height of a block")',
      'pass',
      'ots-bitcoin-surplus',
    ],
  ]),
  ...withoutRules('opentimestamps/judge.py', [
    ['the file says nothing about the block of a header', 'len(messages) > 0', 'ots-stray-header'],
    ['the header of a block has too little work', 'header.has_work()', 'ots-work-negative'],
    ['the header of a block does not commit to the root', 'commits', 'ots-merkle-root-of-33-bytes'],
    [
      'the trust file has another hash for a Bitcoin block',
      'not hashes or header.hash in hashes',
      'ots-one-contradicts',
    ],
    ['the file is not about a SHA-256', 'file.hash_tag == SHA256', 'ots-hash-keccak'],
    [
      'the file is about something else',
      'file.digest == hashlib.sha256(root).digest()',
      'ots-of-another-root',
    ],
  ]),
  ...withoutEnds('opentimestamps/judge.py', [
    ['no Bitcoin block of a file is trusted', 'not trusted', 'ots-untrusted'],
  ]),
];
