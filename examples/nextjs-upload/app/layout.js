/** The frame of all pages. */
import './style.css';

export const metadata = { title: 'Upload and verify' };

export default function Layout({ children }) {
  return (
    <html lang="en">
      <body>
        <main>{children}</main>
      </body>
    </html>
  );
}
