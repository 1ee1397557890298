/** VitePress's own theme without its fonts, in the colours of the dashboard. */
import type { Theme } from 'vitepress';
import theme from 'vitepress/theme-without-fonts';
import './style.css';

export default {
  extends: theme,
  enhanceApp({ router }) {
    // Not while the pages are built.
    if (typeof document === 'undefined') return;
    // The page is drawn after this.
    router.onAfterRouteChange = () => {
      requestAnimationFrame(() => document.querySelector('.VPHome')?.setAttribute('role', 'main'));
    };
  },
} satisfies Theme;
