/** The page with the picture of the layers that the sources have now. */
export function withPicture(page: string): string;
