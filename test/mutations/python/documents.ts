/** The form of documents, JSON and trust files, in the second verifier: each rule left out, and the vector that has to turn red. */
import { replacing, withoutEnds, withoutRules } from './python-mutation.ts';

export const documentsInPython = [
  ...withoutRules('anchors_form.py', [
    ['a token, certificate or list is too long', 'len(data) <= most', 'rfc3161-certificate-of-16385-bytes'],
    [
      'two headers have one height',
      'all(height != other for other, _ in headers)',
      'malformed-ots-height-twice',
    ],
    ['an anchor has no type', 'isinstance(entry, dict) and "type" in entry', 'malformed-anchor-null'],
  ]),
  ...withoutRules('document.py', [
    ['content.algorithm is not sha-256', 'parts["algorithm"] == "sha-256"', 'malformed-algorithm'],
    [
      'content.canonicalization is none of the three',
      'canonicalization in ("raw", "jcs", "hmac-sha256")',
      'malformed-canonicalization-unknown',
    ],
    [
      'content.salt is not null, but raw content has no salt',
      'canonicalization != "raw" or salt is None',
      'malformed-salt-of-raw-content',
    ],
    ['claims has no salt', '"salt" in value', 'malformed-claims-without-salt'],
    [
      'leaf.types is not the list of the specification',
      'parts["types"] == LEAF_TYPES',
      'malformed-types-one-more',
    ],
    ['seal has no depth', '"depth" in value', 'malformed-depth-missing'],
    ['a proof is of another format', 'value == PROOF_FORMAT', 'malformed-format'],
    ['a part of the document is missing', 'name in self.value', 'malformed-anchors-missing'],
  ]),
  ...withoutEnds('document.py', [
    ['a part of the document is malformed', 'reading.faults', 'malformed-algorithm'],
  ]),
  ...replacing('document.py', [
    [
      'claims is neither an object nor null',
      'require(isinstance(value, dict), "claims is neither an object nor null.")',
      'require(True, "claims is neither an object nor null.")',
      'malformed-claims-a-list-of-its-name',
    ],
    [
      'seal is not an object',
      'require(isinstance(value, dict), "seal is not an object.")',
      'require(True, "seal is not an object.")',
      'malformed-seal-a-list',
    ],
    [
      'the document is no object',
      'if not isinstance(value, dict):\n        raise MalformedProof({"leaf": "The document is not an object."})',
      'if False:\n        raise MalformedProof({"leaf": "The document is not an object."})',
      'malformed-no-object-1',
    ],
  ]),
  ...withoutRules('fields.py', [
    ['a part is no object', 'isinstance(value, dict)', 'malformed-renewal-covers-null'],
    ['a part is no list', 'isinstance(value, list)', 'malformed-crls-a-string'],
    ['a list is too short', 'len(value) >= least', 'malformed-anchors-none'],
    ['a list is too long', 'len(value) <= most', 'malformed-anchors-17'],
    [
      'a text is not of the right form',
      'isinstance(value, str) and pattern.fullmatch(value) is not None',
      'history-malformed-malformed-proof',
    ],
    [
      'a hash is of another length',
      'size is None or len(written) == 2 + 2 * size',
      'malformed-claims-salt-too-short',
    ],
    ['an integer is too large for its field', 'whole <= most', 'malformed-depth-65'],
    ['a number is beyond 2^64 - 1', 'number < 2**64', 'malformed-sequence-beyond-uint64'],
    ['base64 is no text', 'isinstance(value, str)', 'malformed-token-null'],
    ['base64 is too long', 'len(value) <= most_characters', 'malformed-ots-of-65539-bytes'],
    ['a member is missing', 'name in value', 'history-malformed-without-subject'],
    ['a member is unknown', 'name in names', 'history-malformed-unknown-in-subject'],
  ]),
  ...withoutEnds('fields.py', [
    ['a number is no integer that is allowed', 'whole is None', 'malformed-block-number-negative'],
  ]),
  ...withoutRules('jcs.py', [
    [
      'an integer is beyond 2^53',
      'not (value.is_integer() and abs(value) >= 2**53)',
      'claims-integer-beyond-2-53',
    ],
    [
      'a text has half a character (an unpaired surrogate)',
      'not _SURROGATE.search(text)',
      'claims-half-a-character',
    ],
    [
      'canonical JSON has more than 64 levels',
      'level <= _MOST_LEVELS or not isinstance(value, (list, dict))',
      'claims-nested-65',
    ],
  ]),
  ...withoutRules('strict_json.py', [
    ['a number is too large for a double', 'value != float("inf")', 'document-number-too-large'],
    ['a number has more than 17 digits', 'len(number.digits) <= _MOST_DIGITS', 'content-number-of-21-digits'],
    [
      'a number is not the double rounded to its last digit',
      '-unit / 2 < too_much <= unit / 2',
      'content-inexact-in-the-last-digit',
    ],
    [
      'a document has more than 72 levels',
      'not is_nested or level < MOST_LEVELS',
      'document-nested-73-objects',
    ],
    ['a name occurs twice in one object', 'name not in result', 'content-name-twice'],
  ]),
  ...withoutEnds('strict_json.py', [
    ['something follows the end of a document', 'reader.at != len(text)', 'document-comment'],
    [
      'an escape is unknown',
      'self.text[self.at + 1 : self.at + 2] != "u" or not match',
      'document-escape-of-a-quote',
    ],
    ['a string has a control character, or does not end', 'end != "\\\\"', 'document-tab-before-a-letter'],
  ]),
  ...replacing('strict_json.py', [
    [
      'a character is missing in a document',
      'if not self.take(character):',
      'if not self.take(character) and False:',
      'document-without-a-comma',
    ],
    [
      'a double does not represent a number',
      '_check_represented(number)',
      'pass',
      'content-exponent-huge-and-negative',
    ],
  ]),
  ...withoutRules('trust.py', [
    [
      'an element of tsaRoots is no text, or too long',
      'isinstance(value, str) and len(value) <= _MOST_ROOT_CHARACTERS',
      'trust-unusable-root-of-20001-characters',
    ],
    ['an element of tsaRoots is not one certificate in PEM', 'len(found) == 1', 'trust-unusable-root-twice'],
    ['an element of crls is not one list in PEM', 'len(lists) == 1', 'trust-unusable-list-twice'],
    ["a certificate in tsaRoots is not an authority's", 'is_authority', 'trust-unusable-root-no-authority'],
    [
      'a certificate in tsaRoots may not sign certificates',
      'usage is None or KEY_CERT_SIGN in usage',
      'trust-unusable-root-that-may-not-sign',
    ],
    [
      'an element of crls is no text, or too long',
      'isinstance(value, str) and len(value) <= _MOST_LIST_CHARACTERS',
      'trust-unusable-list-of-1500001-characters',
    ],
    [
      'a trust file is of another format',
      'isinstance(value, dict) and value.get("format") == TRUST_FORMAT',
      'trust-unusable-format',
    ],
  ]),
];
