/** Rules about the certificates and lists of timestamp tokens, each left out: a vector has to turn red. */
import { mutationsOf } from './mutation.ts';

const vectors = ['src/proof/verify/vectors.test.ts'];
const differ = 'Two verifiers would differ.';

const certificateRules = mutationsOf('src/proof/rfc3161/certificates.ts', vectors, [
  ['size of a certificate', 'must(bytes.length <= certificateBytes, `', 'must(bytes.length > 0, `', differ],
  [
    'version of a certificate',
    'number === undefined || isNumber(number, 1) || isNumber(number, 2),',
    'true,',
    differ,
  ],
  [
    'one algorithm',
    'must(sameBytes(inside.bytes, outside.bytes), `',
    'must(inside.bytes.length > 0, `',
    'A signature could be read as one by another algorithm.',
  ],
  [
    'long usage',
    'if (more.length > 0) throw formFault(what);',
    '',
    'A usage that nobody knows would be allowed.',
  ],
  [
    'extensions in a set',
    'if (der !== undefined && der.tag !== sequence) throw',
    'if (der?.tag === 0) throw',
    differ,
  ],
  ['extension twice', 'must(!extensions.has(id), `', 'must(true, `', 'Two readers could read two limits.'],
  [
    'list by reasons',
    'name?.tag === around(0) && more === undefined ? elementsOf(name)',
    'name?.tag === around(0) ? elementsOf(name)',
    'A part of a list would pass for the whole.',
  ],
  [
    'relative name of a certificate',
    'return full?.tag === around(0) ? elementsOf(full) : [];',
    'return full ? elementsOf(full) : [];',
    differ,
  ],
]);

const pathRules = mutationsOf('src/proof/rfc3161/path.ts', vectors, [
  ['long path', 'const longestPath = 8;', 'const longestPath = 9;', differ],
  ['short path', 'const longestPath = 8;', 'const longestPath = 7;', differ],
  [
    'issuer of the signer',
    'return sameBytes(issuer, named.issuer) && sameBytes(serial, named.serial);',
    'return sameBytes(serial, named.serial);',
    'A certificate that the token does not name would do.',
  ],
  [
    'serial number of the signer',
    'return sameBytes(issuer, named.issuer) && sameBytes(serial, named.serial);',
    'return sameBytes(issuer, named.issuer);',
    'A certificate that the token does not name would do.',
  ],
  [
    'certificate of the ESS',
    'if (!matches.includes(false)) return candidate;',
    'if (matches.length >= 0) return candidate;',
    'A token could be shown with another certificate of the same key.',
  ],
  [
    'one of two ESS',
    'if (!matches.includes(false)) return candidate;',
    'if (matches.includes(true)) return candidate;',
    'A token could contradict itself.',
  ],
  ['ESS of another', '    candidates.length === 0,\n', '    candidates.length >= 0,\n', differ],
  [
    'validity of the root',
    'if (strict && validityFault(root, time) !== null) continue;',
    '',
    'A root that has ended could vouch.',
  ],
  [
    'faults of issuers',
    '(strict && issuerFault(issuer, below, time) !== null)) continue;',
    'strict === null) continue;',
    'Anybody with a certificate could issue others.',
  ],
  [
    'validity of any',
    'time < notBefore || time > notAfter ? `',
    'time > notAfter ? `',
    'A token from before its certificate would count.',
  ],
  [
    'end of any',
    'time < notBefore || time > notAfter ? `',
    'time < notBefore ? `',
    'A token from after its certificate would count.',
  ],
  [
    'critical extensions',
    'isCritical && !understood.includes(id)',
    "isCritical && id === ''",
    'A limit of the certificate would be ignored.',
  ],
  [
    'no authority',
    'if (!isAuthority || !mayDo(keyUsage, usages.certSign)) {',
    'if (!mayDo(keyUsage, usages.certSign)) {',
    'Anybody with a certificate could issue others.',
  ],
  [
    'usage of an authority',
    'if (!isAuthority || !mayDo(keyUsage, usages.certSign)) {',
    'if (!isAuthority) {',
    'A key for another usage could issue certificates.',
  ],
  [
    'purpose of an authority',
    'if (purposes && !purposes.includes(timeStamping) && !purposes.includes(anyPurpose)) {',
    "if (purposes?.includes('')) {",
    'An authority for other purposes could issue stampers.',
  ],
  ['any purpose', ' && !purposes.includes(anyPurpose)) {', ') {', differ],
  [
    'length of the path',
    'if (pathLength !== undefined && below.length - 1 > pathLength) {',
    'if (pathLength === -1) {',
    'An authority could hand on more than it has.',
  ],
  [
    'authority at its time',
    'return criticalFault(issuer) ?? validityFault(issuer, time);',
    'return criticalFault(issuer);',
    'An authority that has ended could issue.',
  ],
  [
    'extension of an authority',
    'return criticalFault(issuer) ?? validityFault(issuer, time);',
    'return validityFault(issuer, time);',
    'A limit of the certificate would be ignored.',
  ],
  [
    'path of the ESS',
    'const lists = signer.identified.filter((ids) => ids.length > 1);',
    'const lists = signer.identified.filter((ids) => ids.length > 99);',
    'A path would count that the token excludes.',
  ],
  [
    'one of two paths of the ESS',
    '.every((matches) => matches.includes(true))',
    '.at(-1)?.includes(true) !== false',
    differ,
  ],
  [
    'issuer in the ESS',
    '(sameBytes(issuer, id.issuer) && sameBytes(serial, id.serial))',
    'sameBytes(serial, id.serial)',
    differ,
  ],
  [
    'serial number in the ESS',
    '(sameBytes(issuer, id.issuer) && sameBytes(serial, id.serial))',
    'sameBytes(issuer, id.issuer)',
    differ,
  ],
  [
    'hash in the ESS',
    'return isNamed && sameBytes(await digestOf(id.hash, bytes), id.digest);',
    'return isNamed;',
    'A token could be shown with another certificate of the same key.',
  ],
  ['name of an issuer', 'sameBytes(one.issuer, issuer.subject) && isSignedBy(', 'isSignedBy(', differ],
  [
    'signature of an issuer',
    '&& isSignedBy(issuer.spki, one.signed);',
    '&& issuer.spki.length > 0;',
    'Anybody could issue certificates in the name of a root.',
  ],
]);

const revocationRules = mutationsOf('src/proof/rfc3161/revocation.ts', vectors, [
  [
    'certificates that the trust file refuses',
    'must(refused === undefined,',
    'must(true,',
    'A revocation known to whoever verifies would be forgotten.',
  ],
  [
    'harmless reasons',
    '(number | undefined)[] = [0, 3, 4, 5];',
    '(number | undefined)[] = [0, 1, 3, 4, 5];',
    'Whoever stole a key could stamp any time before the theft was noticed.',
  ],
  [
    'no reason',
    '(number | undefined)[] = [0, 3, 4, 5];',
    '(number | undefined)[] = [undefined, 0, 3, 4, 5];',
    'A stolen key could stamp if nobody gave a reason.',
  ],
  [
    'unspecified reason',
    '(number | undefined)[] = [0, 3, 4, 5];',
    '(number | undefined)[] = [3, 4, 5];',
    differ,
  ],
  ['form of a reason', 'readDer(code, what, enumerated)', 'readDer(code, what, code[0])', differ],
  ['version of a list', 'must(version === undefined || isNumber(version, 1), `', 'must(true, `', differ],
  [
    'critical extension of an entry',
    'isUnderstood: understands(extensions, extensionIds.reasonCode) };',
    'isUnderstood: true };',
    'A list that is about others could revoke.',
  ],
  [
    'critical extension of a list',
    'isUnderstood &&= understands(extensions, extensionIds.issuingDistributionPoint);',
    '',
    'A list that only adds to another one could clear a certificate.',
  ],
  [
    'later list',
    'if (thisUpdate > at || nextUpdate',
    'if (nextUpdate',
    'The judgement of a time would depend on what came later.',
  ],
  ['list of the moment', 'if (thisUpdate > at || nextUpdate', 'if (thisUpdate >= at || nextUpdate', differ],
  ['ended list', '|| nextUpdate < genTime || !isAbout', '|| !isAbout', differ],
  ['list that ends', '|| nextUpdate < genTime || !isAbout', '|| nextUpdate <= genTime || !isAbout', differ],
  [
    'list of others',
    '|| !isAbout(crl, certificate)) continue;',
    ') continue;',
    'A list about other certificates could revoke.',
  ],
  ['who may sign lists', 'if (!mayDo(issuer?.keyUsage, usages.crlSign)) continue;', '', differ],
  [
    'signature of a list',
    'if (!(await isSignedBy((issuer ?? root).spki, crl.signed))) continue;',
    '',
    'Anybody could revoke a certificate.',
  ],
  [
    'revoked serial number',
    'end - start === serial.length && isAt(serial, list, start)',
    'end > start && serial.length > 0',
    'One revocation would void all.',
  ],
  [
    'beginning of a serial number',
    'end - start === serial.length && isAt(serial, list, start)',
    'isAt(serial, list, start)',
    'A revocation of another certificate would void.',
  ],
  ['date of an entry', 'must(!Number.isNaN(date), `', 'must(true, `', differ],
  [
    'form of an entry',
    'if (!isForm) throw formFault(what);',
    'if (entry.tag !== sequence) throw formFault(what);',
    differ,
  ],
  [
    'revoked at all',
    'if (voiding !== undefined) throw',
    'if (voiding === null) throw',
    'A stolen key could stamp for ever.',
  ],
  [
    'revoked before',
    '!(harmlessReasons.includes(reason) && genTime < date)',
    '!harmlessReasons.includes(reason)',
    'A certificate could stamp after it was given up.',
  ],
  ['revoked at the moment', '&& genTime < date)', '&& genTime <= date)', differ],
  [
    'spared for a reason',
    '!(harmlessReasons.includes(reason) && genTime < date)',
    '!(genTime < date)',
    'Whoever stole a key could stamp any time before the theft was noticed.',
  ],
  [
    'issuer of a list',
    'if (scope === null || !sameBytes(issuer, certificate.issuer)) return false;',
    'if (scope === null) return false;',
    'One authority could revoke the certificates of another.',
  ],
  [
    'scope that is not understood',
    'if (scope === null || !sameBytes(issuer, certificate.issuer)) return false;',
    'if (!sameBytes(issuer, certificate.issuer)) return false;',
    'A part of a list could revoke, or clear.',
  ],
  [
    'authorities in a scope',
    'if (areAuthorities !== certificate.isAuthority) return false;',
    '',
    'A list about authorities could revoke others.',
  ],
  [
    'names of a scope',
    'return !names || names.some(',
    'return !names || names.length > 0 || names.some(',
    'A list for other certificates could revoke.',
  ],
  [
    'part of a list',
    'if (isPart || isIndirect',
    'if (isIndirect',
    'A part of a list could revoke, or clear.',
  ],
  [
    'some reasons',
    'const isPart = reasons !== undefined || ',
    'const isPart = ',
    'A part of a list could revoke, or clear.',
  ],
  ['relative name', ' || full?.tag === around(1);', ';', differ],
  ['name of a scope', 'full.tag !== around(1)) throw', 'full.tag < 0) throw', differ],
  ['form of the reasons', 'if (reasons !== undefined) readDer', 'if (reasons === null) readDer', differ],
  [
    'indirect list',
    'isPart || isIndirect || onlyAttributes',
    'isPart || onlyAttributes',
    'One authority could revoke the certificates of another.',
  ],
  ['attribute certificates', '|| onlyAttributes || (', '|| (', differ],
  ['list about nothing', ' || (onlyUsers && onlyAuthorities)) return null;', ') return null;', differ],
]);

const anchorRules = mutationsOf('src/proof/rfc3161/anchor.ts', vectors, [
  [
    'one form of base64',
    'if (btoa(binary) !== text) return undefined;',
    '',
    'A token could be written in many ways.',
  ],
  ['large token', 'tokenBytes: 65_536,', 'tokenBytes: 65_636,', differ],
  ['many certificates', '  certificates: 16,\n', '  certificates: 17,\n', differ],
  ['many lists', '  crls: 4,\n', '  crls: 5,\n', differ],
  ['no bytes of a token', 'return length > 0 && length <= maxBytes', 'return length <= maxBytes', differ],
]);

export const tokenCertificateMutations = [
  ...certificateRules,
  ...pathRules,
  ...revocationRules,
  ...anchorRules,
];
