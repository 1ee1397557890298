/** Names of objects in the store: random, because a digest of guessable content would reveal it to the store's operator. */

export function objectName({ workspaceId, blobId }: { workspaceId: string; blobId: string }): string {
  return `${workspaceId}/${blobId}`;
}

/** Of the marker, which no list names. */
export const markerName = 'installation';

/** The folder of the journal of erasures. */
export const journalFolder = 'erasures';

/** Null unless the name has the form that `objectName` makes. */
export function parseObjectName(name: string): { workspaceId: string; blobId: string } | null {
  const [, workspaceId, blobId] = /^([\w-]+)\/(blb_\w+)$/.exec(name) ?? [];
  return workspaceId !== undefined && blobId !== undefined ? { workspaceId, blobId } : null;
}

/** Rejects names that could lead out of the store's directory or prefix. */
export function checkName(name: string): string {
  if (!/^[\w-]+(\/[\w-]+)*$/.test(name)) throw new Error(`${JSON.stringify(name)} is no name of an object`);
  return name;
}
