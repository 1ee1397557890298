/** The steps on a proof, renewals and histories, in the second verifier: each rule left out, and the vector that has to turn red. */
import { replacing, withoutEnds, withoutRules } from './python-mutation.ts';

export const proofsInPython = [
  ...withoutEnds('anchors.py', [
    ['a token has ended that nothing covers', 'not times', 'renewal-broken-a-missing-anchor'],
  ]),
  ...replacing('anchors.py', [
    [
      'a clock of a renewal is behind',
      ' if time >= ended.gen_time]',
      ']',
      'renewal-by-a-clock-that-is-behind',
    ],
    ['a renewal is the earliest', 'min(times)', 'max(times)', 'renewal-by-two-batches'],
  ]),
  ...withoutRules('history.py', [
    ['a history is of another format', 'parts["format"] == HISTORY_FORMAT', 'history-malformed-format'],
    ['proofs has no element', 'len(parts["proofs"]) > 0', 'history-malformed-no-proofs'],
    [
      'a transfer names nobody who gets the thing',
      'isinstance(to, str) and _ADDRESS.fullmatch(to) is not None',
      'history-transfer-to-nobody',
    ],
    [
      'a proof of a history is about another subject',
      'proof.subject == history.subject',
      'history-another-id',
    ],
    ['a proof does not follow the one before it', 'proof.leaf.previous_leaf == previous', 'history-gap'],
    [
      'the version of a proof does not rise',
      'proof.leaf.version > versions.get(proof.kind, 0)',
      'history-version-falls',
    ],
    ["a proof is by another vault than the owner's", 'owner in (None, vault)', 'history-another-taker'],
    ['the vault of a proof had revoked itself', 'vault not in revoked', 'history-kept-after-a-revoke'],
    [
      'a vault has two seals of one number',
      'seal.sequence != number or identity == before',
      'history-seal-number-twice',
    ],
    ['the number of a seal falls', 'seal.sequence >= number', 'history-seal-numbers-fall'],
    [
      'a seal names another one before it',
      'not follows or seal.previous_seal == before',
      'history-seal-before-not-named',
    ],
  ]),
  ...withoutEnds('history.py', [
    [
      'the claims of a transfer were erased, so the owner after it is not known',
      'not _check_owners(history.proofs)',
      'history-erased-transfer',
    ],
  ]),
  ...withoutRules('leaf.py', [
    ['the leaf is of another domain', 'leaf.domain == LEAF_DOMAIN', 'tampered-leaf-domain'],
    ['the leaf is of another kind or canonicalization', 'leaf.kind == kind_hash', 'swapped-hmac-as-jcs'],
    ['the leaf is about another subject', 'leaf.subject == subject_hash', 'tampered-leaf-subject'],
  ]),
  ...withoutRules('renewals.py', [
    [
      'the renewal covers nothing that is earlier',
      'covers.renewal is None or covers.renewal < place',
      'renewal-broken-a-later-one',
    ],
    [
      'the renewal covers an anchor that does not exist',
      'covers.anchor < len(anchors)',
      'renewal-broken-a-missing-anchor',
    ],
    [
      'the item does not lead to the evidence of the later batch',
      'evidence_root == renewal.evidence_root',
      'renewal-broken-another-anchor',
    ],
    [
      'the head of the later batch does not lead to its root',
      'root == renewal.root',
      'renewal-broken-wrong-log-head',
    ],
  ]),
  ...withoutRules('seal.py', [
    [
      'the seal is by another vault than the one in the leaf',
      'seal.vault == leaf.vault',
      'seal-of-another-vault',
    ],
    ['v of the signature is neither 27 nor 28', 'v in (27, 28)', 'seal-with-v-29-or-30'],
    ['s of the signature is in the upper half', 'int.from_bytes(s, "big") <= HALF_ORDER', 'seal-with-high-s'],
    [
      "the signature is by another key than the vault's, or by none",
      'signer == seal.vault',
      'seal-by-a-stranger',
    ],
    ['there is no seal in the path', 'seal.depth < len(merkle.proof)', 'tampered-depth-of-the-whole-path'],
    ['the path has another seal', 'merkle.proof[seal.depth] == seal_id(seal)', 'tampered-path-seal'],
  ]),
  ...withoutRules('tree.py', [
    [
      'the path is too short for its depth: it has no seal',
      'seal.depth < len(merkle.proof)',
      'seal-missing-in-the-tree',
    ],
    [
      'the path in the subtree is too long for the number of leaves',
      '2**seal.depth < 2 * seal.leaves',
      'seal-with-too-few-leaves',
    ],
    [
      'the path in the subtree is too short for the number of leaves',
      'seal.leaves < 2 ** (seal.depth + 1)',
      'seal-with-too-many-leaves',
    ],
    [
      "the leaf does not lead to the root of the vault's subtree",
      'subtree_root == seal.subtree_root',
      'seal-of-another-subtree',
    ],
    ["the vault's subtree does not lead to the root of the batch", 'root == merkle.root', 'tampered-root'],
  ]),
  ...withoutRules('verify.py', [
    [
      'content.digest is not the digest in the leaf',
      'stated == proof.leaf.digest',
      'tampered-content-and-digest',
    ],
    ['the content has another digest', 'digest == stated', 'empty-content'],
    [
      'the claims have another hash than the leaf says',
      'claims_hash(proof.claims) == proof.leaf.claims_hash',
      'tampered-leaf-claims-hash',
    ],
    [
      'the salt that was given is not the one in the document',
      'salt in (None, given_salt)',
      'hmac-salt-right-beside-a-wrong-one',
    ],
  ]),
  ...withoutEnds('verify.py', [
    ['the salt of the content is not known', 'digest is None', 'erased-record'],
    ['the claims were erased', 'proof.claims is None', 'erased-claims'],
    ['no clock that is trusted vouches for the root', 'not vouchers', 'ots-other-merkle-root'],
  ]),
];
