/** Names of objects in the store: random, because a digest of guessable content would tell it to whoever runs the store. */

export function objectName({ workspaceId, blobId }: { workspaceId: string; blobId: string }): string {
  return `${workspaceId}/${blobId}`;
}

/** Null when it is not a name that `objectName` makes. */
export function parseObjectName(name: string): { workspaceId: string; blobId: string } | null {
  const [, workspaceId, blobId] = /^([\w-]+)\/(blb_\w+)$/.exec(name) ?? [];
  return workspaceId !== undefined && blobId !== undefined ? { workspaceId, blobId } : null;
}

/** Nothing that could lead out of the store's directory or prefix. */
export function checkName(name: string): string {
  if (!/^[\w-]+(\/[\w-]+)*$/.test(name)) throw new Error(`${JSON.stringify(name)} is no name of an object`);
  return name;
}
