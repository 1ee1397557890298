/** Shows the page in the colours that the visitor chose in the dashboard, which is of the same origin. */

/** Where the dashboard keeps the choice. */
const key = 'mantine-color-scheme-value';

export function followColours(): void {
  let chosen: string | null = null;
  try {
    chosen = localStorage.getItem(key);
  } catch {
    // A browser that keeps nothing: as its system has it.
  }
  if (chosen === 'light' || chosen === 'dark') document.documentElement.style.colorScheme = chosen;
}
