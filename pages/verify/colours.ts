/** Uses the colour scheme that the visitor chose in the dashboard, which has the same origin. */

/** The dashboard's key for the choice. */
const key = 'mantine-color-scheme-value';

export function followColours(): void {
  let chosen: string | null = null;
  try {
    chosen = localStorage.getItem(key);
  } catch {
    // Storage is unavailable: uses the system's colour scheme.
  }
  if (chosen === 'light' || chosen === 'dark') document.documentElement.style.colorScheme = chosen;
}
