import { family, type Drawing } from '../../src/answers/drawing.js';

/** Draws a drawing on a canvas, which gets its size times `scale`. */
export function paint(drawing: Drawing, canvas: HTMLCanvasElement, scale: number): void {
  canvas.width = drawing.width * scale;
  canvas.height = drawing.height * scale;
  const ctx = canvas.getContext('2d')!;
  ctx.scale(scale, scale);
  ctx.fillStyle = drawing.background;
  ctx.fillRect(0, 0, drawing.width, drawing.height);
  ctx.lineJoin = ctx.lineCap = 'round';
  for (const mark of drawing.marks) {
    ctx.fillStyle = ctx.strokeStyle = mark.colour;
    if (mark.kind === 'text') {
      ctx.globalAlpha = 1;
      ctx.font = `${mark.weight ?? 400} ${mark.size}px ${family}`;
      ctx.textAlign = mark.align === 'middle' ? 'center' : mark.align ?? 'start';
      ctx.fillText(mark.text, ...mark.at);
      continue;
    }
    ctx.globalAlpha = mark.opacity ?? 1;
    ctx.beginPath();
    for (const point of mark.points) ctx.lineTo(...point);
    if (mark.width === undefined) ctx.fill();
    else {
      ctx.lineWidth = mark.width;
      ctx.stroke();
    }
  }
}
