/** Limits of the second verifier that are one too high or one too low: a vector has to turn red. */
import { changing } from './python-mutation.ts';

export const limitsInPython = [
  ...changing('anchors_form.py', [
    ['one more: bytes of a token', '= 65_536, 16_384,', '= 65_537, 16_384,', 'rfc3161-token-of-65537-bytes'],
    ['one less: bytes of a token', '= 65_536, 16_384,', '= 65_535, 16_384,', 'rfc3161-token-of-65536-bytes'],
    [
      'one more: bytes of a certificate beside a token',
      '65_536, 16_384, 1',
      '65_536, 16_385, 1',
      'rfc3161-certificate-of-16385-bytes',
    ],
    [
      'one less: bytes of a certificate beside a token',
      '65_536, 16_384, 1',
      '65_536, 16_383, 1',
      'rfc3161-certificate-of-16384-bytes',
    ],
    ['one more: bytes of a list', '1_048_576', '1_048_577', 'rfc3161-list-of-1048577-bytes'],
    ['one less: bytes of a list', '1_048_576', '1_048_575', 'rfc3161-list-of-1048576-bytes'],
    [
      'one more: characters of a file of OpenTimestamps',
      '_MOST_OTS_CHARACTERS = 87_384',
      '_MOST_OTS_CHARACTERS = 87_388',
      'malformed-ots-of-65539-bytes',
    ],
    [
      'one less: characters of a file of OpenTimestamps',
      '_MOST_OTS_CHARACTERS = 87_384',
      '_MOST_OTS_CHARACTERS = 87_380',
      'ots-file-65537',
    ],
    [
      'one more: an index of a transaction',
      '_MOST_UINT32 = 2**32 - 1',
      '_MOST_UINT32 = 2**32',
      'malformed-inclusion-index-beyond-uint32',
    ],
    [
      'one less: an index of a transaction',
      '_MOST_UINT32 = 2**32 - 1',
      '_MOST_UINT32 = 2**32 - 2',
      'bound-inclusion-index-largest',
    ],
  ]),
  ...changing('evm/inclusion.py', [
    [
      'one more: bytes of an inclusion',
      '_MOST_BYTES = 65_536',
      '_MOST_BYTES = 65_537',
      'inclusion-of-65537-bytes',
    ],
    [
      'one less: bytes of an inclusion',
      '_MOST_BYTES = 65_536',
      '_MOST_BYTES = 65_535',
      'inclusion-of-65536-bytes',
    ],
  ]),
  ...changing('evm/rlp.py', [
    [
      'one more: an integer of RLP',
      '_MOST_INTEGER = 2**53 - 1',
      '_MOST_INTEGER = 2**53',
      'inclusion-receipt-gas-beyond-2-53',
    ],
    [
      'one less: an integer of RLP',
      '_MOST_INTEGER = 2**53 - 1',
      '_MOST_INTEGER = 2**53 - 2',
      'inclusion-receipt-gas-largest',
    ],
  ]),
  ...changing('jcs.py', [
    ['one more: levels of canonical JSON', '_MOST_LEVELS = 64', '_MOST_LEVELS = 65', 'claims-nested-65'],
    ['one less: levels of canonical JSON', '_MOST_LEVELS = 64', '_MOST_LEVELS = 63', 'canonical-forms'],
  ]),
  ...changing('strict_json.py', [
    ['one more: levels of a document', 'MOST_LEVELS = 72', 'MOST_LEVELS = 73', 'document-nested-73'],
    ['one less: levels of a document', 'MOST_LEVELS = 72', 'MOST_LEVELS = 71', 'document-nested-72'],
    [
      'one more: digits of a number',
      '_MOST_DIGITS = 17',
      '_MOST_DIGITS = 18',
      'content-inexact-in-the-18th-digit',
    ],
  ]),
  ...changing('opentimestamps/file.py', [
    [
      'one more: bytes of a file of OpenTimestamps',
      '_MOST_FILE = 65_536',
      '_MOST_FILE = 65_537',
      'ots-file-65537',
    ],
    [
      'one less: bytes of a file of OpenTimestamps',
      '_MOST_FILE = 65_536',
      '_MOST_FILE = 65_535',
      'ots-file-65536',
    ],
    [
      'one more: a number of OpenTimestamps',
      '_MOST_NUMBER = 2**32 - 1',
      '_MOST_NUMBER = 2**32',
      'ots-number-too-large',
    ],
    [
      'one less: a number of OpenTimestamps',
      '_MOST_NUMBER = 2**32 - 1',
      '_MOST_NUMBER = 2**32 - 2',
      'ots-number-largest',
    ],
    ['one more: bytes of a message', '_MOST_MESSAGE = 4096', '_MOST_MESSAGE = 4097', 'ots-message-4097'],
    ['one less: bytes of a message', '_MOST_MESSAGE = 4096', '_MOST_MESSAGE = 4095', 'ots-message-4096'],
    [
      'one more: bytes of all results',
      '_MOST_RESULTS = 262_144',
      '_MOST_RESULTS = 262_145',
      'ots-results-262145',
    ],
    [
      'one less: bytes of all results',
      '_MOST_RESULTS = 262_144',
      '_MOST_RESULTS = 262_143',
      'ots-results-262144',
    ],
    [
      'one more: operations of a path',
      '_MOST_OPERATIONS = 255',
      '_MOST_OPERATIONS = 256',
      'ots-operations-256',
    ],
    [
      'one less: operations of a path',
      '_MOST_OPERATIONS = 255',
      '_MOST_OPERATIONS = 254',
      'ots-operations-255',
    ],
    ['one more: bytes of a payload', '_MOST_PAYLOAD = 8192', '_MOST_PAYLOAD = 8193', 'ots-payload-8193'],
    ['one less: bytes of a payload', '_MOST_PAYLOAD = 8192', '_MOST_PAYLOAD = 8191', 'ots-payload-8192'],
    [
      'one more: characters of an address',
      '_MOST_ADDRESS = 1000',
      '_MOST_ADDRESS = 1001',
      'ots-address-1001',
    ],
    ['one less: characters of an address', '_MOST_ADDRESS = 1000', '_MOST_ADDRESS = 999', 'ots-address-1000'],
  ]),
  ...changing('rfc3161/certificate.py', [
    [
      'one more: bytes of a certificate in a token',
      '_MOST_BYTES = 16_384',
      '_MOST_BYTES = 16_385',
      'rfc3161-certificate-of-16385-bytes-in-the-token',
    ],
    [
      'one less: bytes of a certificate in a token',
      '_MOST_BYTES = 16_384',
      '_MOST_BYTES = 16_383',
      'rfc3161-certificate-of-16384-bytes-in-the-token',
    ],
  ]),
  ...changing('rfc3161/der.py', [
    ['one more: levels of DER', '_MOST_LEVELS = 32', '_MOST_LEVELS = 33', 'rfc3161-more-than-32-levels'],
    ['one less: levels of DER', '_MOST_LEVELS = 32', '_MOST_LEVELS = 31', 'rfc3161-der-32-levels'],
    [
      'one more: elements of DER',
      '_MOST_ELEMENTS = 2**18',
      '_MOST_ELEMENTS = 2**18 + 1',
      'rfc3161-der-262145-elements',
    ],
    [
      'one less: elements of DER',
      '_MOST_ELEMENTS = 2**18',
      '_MOST_ELEMENTS = 2**18 - 1',
      'rfc3161-der-262144-elements',
    ],
    [
      'one more: bytes of an object identifier',
      '_MOST_OID = 64',
      '_MOST_OID = 65',
      'rfc3161-an-object-identifier-of-65-bytes-in-an-unsigned-attribute',
    ],
    [
      'one less: bytes of an object identifier',
      '_MOST_OID = 64',
      '_MOST_OID = 63',
      'rfc3161-der-oid-of-64-bytes',
    ],
  ]),
  ...changing('rfc3161/ess.py', [
    [
      'one more: identifiers of an ESS attribute',
      '_MOST_IDENTIFIERS = 16',
      '_MOST_IDENTIFIERS = 17',
      'rfc3161-ess-of-17',
    ],
    [
      'one less: identifiers of an ESS attribute',
      '_MOST_IDENTIFIERS = 16',
      '_MOST_IDENTIFIERS = 15',
      'rfc3161-ess-of-16',
    ],
  ]),
  ...changing('rfc3161/extensions.py', [
    [
      'one more: bits of a key usage',
      '_MOST_KEY_USAGE_BITS = 16',
      '_MOST_KEY_USAGE_BITS = 17',
      'rfc3161-key-usage-of-17-bits',
    ],
    [
      'one less: bits of a key usage',
      '_MOST_KEY_USAGE_BITS = 16',
      '_MOST_KEY_USAGE_BITS = 15',
      'rfc3161-key-usage-of-16-bits',
    ],
  ]),
  ...changing('rfc3161/evidence.py', [
    ['one more: checks', '_MOST_CHECKS = 768', '_MOST_CHECKS = 769', 'rfc3161-work-769-by-a-token'],
    ['one less: checks', '_MOST_CHECKS = 768', '_MOST_CHECKS = 767', 'rfc3161-work-768'],
    [
      'one more: certificates of an anchor',
      '_MOST_CERTIFICATES = 16',
      '_MOST_CERTIFICATES = 17',
      'rfc3161-more-than-16-certificates',
    ],
    [
      'one less: certificates of an anchor',
      '_MOST_CERTIFICATES = 16',
      '_MOST_CERTIFICATES = 15',
      'rfc3161-certificates-16',
    ],
  ]),
  ...changing('rfc3161/path.py', [
    [
      'one more: certificates of a path',
      '_MOST_CERTIFICATES = 8',
      '_MOST_CERTIFICATES = 9',
      'rfc3161-path-of-9',
    ],
    [
      'one less: certificates of a path',
      '_MOST_CERTIFICATES = 8',
      '_MOST_CERTIFICATES = 7',
      'rfc3161-path-of-8',
    ],
  ]),
  ...changing('rfc3161/tstinfo.py', [
    [
      'one more: seconds of an accuracy',
      '_MOST_SECONDS = 2**31 - 1',
      '_MOST_SECONDS = 2**31',
      'rfc3161-accuracy-too-large',
    ],
    [
      'one less: seconds of an accuracy',
      '_MOST_SECONDS = 2**31 - 1',
      '_MOST_SECONDS = 2**31 - 2',
      'rfc3161-accuracy-largest',
    ],
  ]),
  ...changing('trust.py', [
    ['one more: characters of a root', '20_000', '20_001', 'trust-unusable-root-of-20001-characters'],
    ['one less: characters of a root', '20_000', '19_999', 'trust-root-of-20000-characters'],
    ['one more: roots of a trust file', '10_000, 256, 256', '10_000, 257, 256', 'trust-unusable-roots-257'],
    ['one less: roots of a trust file', '10_000, 256, 256', '10_000, 255, 256', 'trust-roots-256'],
    ['one more: policies of a trust file', '256, 256, 64', '256, 257, 64', 'trust-unusable-policies-257'],
    [
      'one more: lists of a trust file',
      '256, 64, 1_000_000',
      '256, 65, 1_000_000',
      'trust-unusable-lists-65',
    ],
    [
      'one less: lists of a trust file',
      '256, 64, 1_000_000',
      '256, 63, 1_000_000',
      'rfc3161-revocation-by-the-last-of-64-trusted-lists',
    ],
    ['one less: policies of a trust file', '256, 256, 64', '256, 255, 64', 'trust-policies-256'],
    [
      'one more: blocks until finality',
      '_MOST_CONFIRMATIONS = 1_000_000',
      '_MOST_CONFIRMATIONS = 1_000_001',
      'trust-unusable-finality-1000001',
    ],
    [
      'one less: blocks until finality',
      '_MOST_CONFIRMATIONS = 1_000_000',
      '_MOST_CONFIRMATIONS = 999_999',
      'chain-named-by-the-largest-depth',
    ],
  ]),
  ...changing('document.py', [
    ['one more: elements of a path', 'MOST_PATH = 65', 'MOST_PATH = 66', 'malformed-path-of-66'],
    ['one less: elements of a path', 'MOST_PATH = 65', 'MOST_PATH = 64', 'bound-path-of-65'],
    [
      'one more: renewals',
      'form.array(value, 0, 16, "renewals")',
      'form.array(value, 0, 17, "renewals")',
      'malformed-renewals-17',
    ],
    [
      'one less: renewals',
      'form.array(value, 0, 16, "renewals")',
      'form.array(value, 0, 15, "renewals")',
      'bound-renewals-16',
    ],
    ['one more: depth of a seal', '"seal.depth", 64', '"seal.depth", 65', 'malformed-depth-65'],
    ['one less: depth of a seal', '"seal.depth", 64', '"seal.depth", 63', 'tampered-depth-64'],
  ]),
];
