/** Lists of the second verifier that lack an element, and other small mistakes in it: a vector has to turn red. */
import { changing } from './python-mutation.ts';

export const listsInPython = [
  ...changing('evm/chain.py', [
    ['anvil is not known', '"anvil", ', '', 'chain-development-node-anvil'],
    ['Hardhat is not known', '"hardhat", ', '', 'chain-development-node-hardhatnetwork'],
    ['Ganache is not known', '"ganache", ', '', 'chain-development-node-ganache'],
    ['TestRPC is not known', '"ganache", "testrpc"', '"ganache"', 'chain-development-node-ethereumjs'],
  ]),
  ...changing('history.py', [
    [
      'a transfer gives nothing away',
      '("transfer", "revoke")',
      '("revoke",)',
      'history-kept-after-a-transfer',
    ],
    [
      'a revoke gives nothing away',
      '("transfer", "revoke")',
      '("transfer",)',
      'history-revoked-with-a-transfer-back',
    ],
  ]),
  ...changing('rfc3161/certificate.py', [
    [
      'critical other names',
      'KEY_USAGE, SUBJECT_ALTERNATIVE_NAME, BASIC',
      'KEY_USAGE, BASIC',
      'rfc3161-alternative-names-critical',
    ],
    [
      'critical policies',
      'BASIC_CONSTRAINTS, CERTIFICATE_POLICIES, EXTENDED_KEY_USAGE)',
      'BASIC_CONSTRAINTS, EXTENDED_KEY_USAGE)',
      'rfc3161-policies-critical',
    ],
  ]),
  ...changing('rfc3161/revocation.py', [
    [
      'reason 0 voids earlier tokens',
      '(0, 3, 4, 5)',
      '(3, 4, 5)',
      'rfc3161-revocation-test-tsa-revoked-for-reason-0-60-s-after-the-gentime',
    ],
    [
      'reason 3 voids earlier tokens',
      '(0, 3, 4, 5)',
      '(0, 4, 5)',
      'rfc3161-revocation-test-tsa-revoked-for-reason-3-60-s-after-the-gentime',
    ],
    [
      'reason 4 voids earlier tokens',
      '(0, 3, 4, 5)',
      '(0, 3, 5)',
      'rfc3161-revocation-test-tsa-revoked-for-reason-4-60-s-after-the-gentime',
    ],
    [
      'reason 5 voids earlier tokens',
      '(0, 3, 4, 5)',
      '(0, 3, 4)',
      'rfc3161-revocation-test-tsa-revoked-for-reason-5-60-s-after-the-gentime',
    ],
    [
      'reason 1 leaves earlier tokens',
      '(0, 3, 4, 5)',
      '(0, 1, 3, 4, 5)',
      'rfc3161-revocation-test-tsa-revoked-for-reason-1-60-s-after-the-gentime',
    ],
  ]),
  ...changing('rfc3161/extensions.py', [
    [
      'non-repudiation is not known',
      'KEY_CERT_SIGN, CRL_SIGN = 0, 1, 5, 6',
      'KEY_CERT_SIGN, CRL_SIGN = 0, -1, 5, 6',
      'rfc3161-signer-for-non-repudiation',
    ],
  ]),
  ...changing('clock.py', [
    [
      '2100 is a leap year',
      'year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)',
      'year % 4 == 0',
      'rfc3161-certificate-until-29-february-2100',
    ],
    [
      '2400 is no leap year',
      '(year % 100 != 0 or year % 400 == 0)',
      'year % 100 != 0',
      'rfc3161-certificate-until-29-february-2400',
    ],
  ]),
  ...changing('context.py', [
    [
      'a block is too late for no time',
      'self.at is not None and moment > self.at',
      'moment > self.judged_at()',
      'evm-judged-at-no-time',
    ],
  ]),
  ...changing('rfc3161/algorithms.py', [
    ['salt of 32 bytes by default', '_DEFAULT_SALT = 20', '_DEFAULT_SALT = 32', 'rfc3161-pss-salt-of-20'],
  ]),
];
