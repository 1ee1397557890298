/** Evidence packages: a ZIP archive with content, proof, what others vouched for, and how to check each without us. */
import type { Readable } from 'node:stream';
import type { Pool } from 'pg';
import type { Archive } from '../../anchoring/archive/archive.ts';
import type { Proofs } from '../../anchoring/proofs.ts';
import { findStoredChain } from '../../chain/stored-chain.ts';
import type { Db } from '../../db/database.ts';
import type { Proof, ProofContent } from '../../proof/verify/proof.ts';
import { AppError } from '../../runtime/errors.ts';
import type { Certificates } from '../certificates/certificates.ts';
import type { OperatorRoot } from '../certificates/operator-roots.ts';
import { chainKind } from '../certificates/own-chain.ts';
import type { FileContents } from '../files/file-content.ts';
import { findDigest } from '../files/files.store.ts';
import { noRecord } from '../records/record-versions.ts';
import { findRecord } from '../records/records.store.ts';
import { packageDeclaration } from './package-declaration.ts';
import { type PackagedContent, packageReadme } from './package-readme.ts';
import { trustFiles } from './package-trust.ts';
import { proofFiles } from './proof-files.ts';
import { type PackagedFile, zipFiles } from './zip-archive.ts';

export interface PackageRequest {
  workspaceId: string;
  kind: 'file' | 'record';
  id: string;
  /** Default: the newest. */
  version: number | undefined;
  /** The public page that checks proofs. */
  verifyUrl: string;
}

export interface EvidencePackages {
  /**
   * Throws AppError resource_not_found, conflict before the confirmation, or service_unavailable. The stream fails if the
   * content cannot be read to its end.
   */
  open(request: PackageRequest): Promise<{ version: number; stream: Readable }>;
}

export interface EvidencePackagesDeps {
  db: Db;
  pool: Pool;
  proofs: Pick<Proofs, 'make'>;
  archive: Pick<Archive, 'find'>;
  fileContents: FileContents;
  certificates: Certificates;
  operatorRoots: readonly OperatorRoot[];
  now?(): Date;
}

/** What a package is about. */
interface Found {
  proof: Proof;
  content: PackagedContent;
  /** The content, and for a file its certificate. */
  files: PackagedFile[];
}

export function createEvidencePackages(deps: EvidencePackagesDeps): EvidencePackages {
  const { db, pool, proofs, archive, operatorRoots } = deps;
  return {
    async open(request) {
      const { kind, id } = request;
      const { proof, content, files } = await (kind === 'file' ? findFile(request) : findData(request));
      const version = Number(proof.leaf.values[4]);
      const chain = await findStoredChain(db);
      const roots = await proofFiles(proof, operatorRoots);
      const madeAt = deps.now?.() ?? new Date();
      const subject = `version ${version} of the ${kind} ${id}`;
      const readme = packageReadme({
        ...{ madeAt, subject, proof, content, roots },
        hasCertificate: kind === 'file',
        hasOperatorRoots: operatorRoots.length > 0,
        isPublicChain: chain !== null && chainKind(chain).chain === 'public',
      });
      const all = [
        textFile('README.txt', readme),
        textFile('declaration.txt', packageDeclaration(proof, subject)),
        textFile('proof.json', `${JSON.stringify(proof, null, 2)}\n`),
        ...roots.flatMap((root) => root.files),
        ...trustFiles(operatorRoots),
        ...files,
      ];
      return { version, stream: zipFiles(all, madeAt) };
    },
  };

  function prove(
    { workspaceId, kind, id }: PackageRequest,
    version: number,
    content: Omit<ProofContent, 'algorithm'>,
  ) {
    return proofs.make({
      ...{ workspaceId, kind, subjectId: id, version },
      content: { algorithm: 'sha-256', ...content },
    });
  }

  async function findFile(request: PackageRequest): Promise<Found> {
    const { workspaceId, id, verifyUrl } = request;
    const { version, contentHash, canonicalization } = await findDigest(
      pool,
      { workspaceId, id },
      request.version,
    );
    const proof = await prove(request, version, { digest: contentHash, canonicalization, salt: null });
    const { pdf } = await deps.certificates.make({ workspaceId, fileId: id, version, verifyUrl });
    const certificate = { path: 'certificate.pdf', bytes: pdf };
    try {
      const { name, size, read } = await deps.fileContents.find(workspaceId, id, version);
      const path = `content/${safeName(name)}`;
      const stored = { path, bytes: { size, read: () => read() } };
      return { proof, content: { path, saltPath: null }, files: [certificate, stored] };
    } catch (error) {
      // Only the content is missing: the file has a proof.
      if (!(error instanceof AppError) || error.code !== 'resource_not_found') throw error;
      return {
        proof,
        content: { missing: `It is not in this package: ${error.message}` },
        files: [certificate],
      };
    }
  }

  async function findData(request: PackageRequest): Promise<Found> {
    const { workspaceId, id, version } = request;
    const found = await findRecord({ pool, archive }, { workspaceId, id }, version);
    if (!found) throw version === undefined ? noRecord(id) : noVersion(id, version);
    const { record, content } = found;
    const salt = content && (`0x${content.salt.toString('hex')}` as const);
    const proof = await prove(request, record.version, {
      ...{ digest: record.dataHash, canonicalization: 'jcs', salt },
    });
    if (!content) {
      return { proof, content: { missing: 'It is not in this package: it was erased.' }, files: [] };
    }
    const [path, saltPath] = ['content/record.json', 'content/salt.bin'];
    return {
      proof,
      content: { path, saltPath },
      files: [textFile(path, content.data), { path: saltPath, bytes: content.salt }],
    };
  }
}

function noVersion(id: string, version: number): AppError {
  return new AppError('resource_not_found', `There is no version ${version} of the record ${id}.`);
}

function textFile(path: string, text: string): PackagedFile {
  return { path, bytes: Buffer.from(text) };
}

/** Letters and digits of any script; nothing that a shell, or a program that unpacks archives, could take for more. */
export function safeName(name: string): string {
  const safe = name
    .normalize('NFC')
    .replace(/[^\p{L}\p{N}._-]+/gu, '_')
    .replace(/^[.-]+/, '');
  return [...safe].slice(0, 100).join('') || 'content';
}
