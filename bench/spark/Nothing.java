/** An application whose preparation is all that it costs. */
public final class Nothing {
        public static void main(String[] args)
        {
        }
}
