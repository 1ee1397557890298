/** Which workspace this browser works in; remembered, and part of no link. */
const key = 'holdfast.workspace';

/** Of this page: a switch in another tab must not send what is typed here to another workspace. */
let chosen = localStorage.getItem(key);

export function chosenWorkspace(): string | null {
  return chosen;
}

export function chooseWorkspace(id: string | null): void {
  chosen = id;
  if (id === null) localStorage.removeItem(key);
  else localStorage.setItem(key, id);
}
